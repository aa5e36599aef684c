import { MissingPackage } from '@tollgate/database'
import { isRightToLeft } from '@tollgate/http'
import type { PrintedDocument, PrintedTotal } from '@tollgate/invoices'
import { omitUndefined } from '../../core/values/arguments.ts'
import { requireLocale } from '../../core/values/locale.ts'
import { formatMoney, money } from '../../core/values/money.ts'
import { findLanguageWords } from '../../core/words/all.ts'
import type { InvoiceWords } from '../../core/words/words.ts'
import type { CreditNoteData } from '../credit-notes/credit-note.ts'
import { formatPaymentMethodLabel } from '../payment-methods/label.ts'
import type { InvoiceData } from './invoice.ts'
import type { InvoiceDiscount, InvoiceLine, InvoiceTax } from './invoice-parts.ts'
import type { InvoicePdfOptions } from './pdf-options.ts'

/**
 * Renders an invoice as PDF. A paid invoice is titled as a receipt. The same invoice and options
 * always result in the same bytes. Requires the package `@tollgate/invoices`.
 */
export function renderInvoice(
  invoice: InvoiceData,
  options: InvoicePdfOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = createDocumentFormatter(options)
  return printDocument(invoice, buildInvoiceParts(invoice, options, writer), options, writer)
}

/**
 * Renders a credit note as PDF, with the number of the credited invoice. The same credit note and
 * options always result in the same bytes. Requires the package `@tollgate/invoices`.
 */
export function renderCreditNote(
  note: CreditNoteData,
  options: InvoicePdfOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = createDocumentFormatter(options)
  return printDocument(note, buildCreditNoteParts(note, writer), options, writer)
}

/** Fields that both kinds of documents have. Amounts are in the currency's smallest unit. */
type PrintedAmounts = Pick<
  InvoiceData,
  'number' | 'date' | 'currency' | 'lines' | 'subtotal' | 'discounts' | 'taxes' | 'total'
> &
  Pick<InvoiceData, 'customer' | 'customerTaxIds'>

/** Parts that differ between the kinds of documents. */
interface DocumentParts {
  readonly title: string
  readonly facts: readonly string[]
  /** Amounts printed below the total, because the lines above the total add up to it. */
  readonly afterTotal: readonly (readonly [label: string, amount: number])[]
  readonly notes: readonly string[]
}

function buildInvoiceParts(
  invoice: InvoiceData,
  options: InvoicePdfOptions,
  { words, date, locale }: DocumentFormatter,
): DocumentParts {
  const { number, paid, total, amountDue, startingBalance } = invoice
  const balance: [string, number][] =
    startingBalance === 0
      ? []
      : [
          [startingBalance < 0 ? words.paidFromCredit : words.balanceFromBefore, amountDue - total],
          [paid ? words.amountPaid : words.amountDue, amountDue],
        ]
  const back = options.refunded?.amount ?? 0
  const paidWith = paid ? (options.paidWith ?? []) : []
  const labels = paidWith.map((method) => formatPaymentMethodLabel(method, locale))
  return {
    title: paid ? words.receipt : words.invoice,
    facts: [
      `${words.number} ${number}`,
      `${words.date} ${date(invoice.date)}`,
      ...(labels.length === 0
        ? []
        : [removeControlCharacters(`${words.paidWith} ${labels.join(', ')}`)]),
    ],
    afterTotal: [...balance, ...(back === 0 ? [] : [[words.refunded, -back] as const])],
    notes: invoice.reverseCharge ? [words.reverseCharge] : [],
  }
}

function buildCreditNoteParts(
  note: CreditNoteData,
  { words, date }: DocumentFormatter,
): DocumentParts {
  const { refunded, toBalance, outside } = note.givenBack
  const ways: (readonly [string, number])[] = [
    [words.refunded, refunded],
    [words.toBalance, toBalance],
    [words.outside, outside],
  ]
  return {
    title: words.creditNote,
    facts: [
      `${words.number} ${note.number}`,
      `${words.date} ${date(note.date)}`,
      `${words.forInvoice} ${note.invoiceNumber}`,
    ],
    afterTotal: ways.filter(([, amount]) => amount !== 0),
    notes: [
      ...(note.memo === null ? [] : [removeControlCharacters(note.memo)]),
      ...(note.reverseCharge ? [words.reverseCharge] : []),
    ],
  }
}

/**
 * Formats everything as text, and renders it. The rendering package is loaded only here, because
 * loading it takes longer than everything else.
 */
async function printDocument(
  sums: PrintedAmounts,
  parts: DocumentParts,
  options: InvoicePdfOptions,
  writer: DocumentFormatter,
): Promise<Uint8Array<ArrayBuffer>> {
  const { words, locale } = writer
  const { vendor, product, vendorDetails = [], logo = null, legal = [], footer = '' } = options
  const document: PrintedDocument = {
    locale,
    rightToLeft: isRightToLeft(locale),
    file: {
      title: `${removeControlCharacters(product)} ${sums.number}`,
      author: removeControlCharacters(vendor),
      date: sums.date,
    },
    seller: {
      name: removeControlCharacters(vendor),
      lines: [product, ...vendorDetails].map(removeControlCharacters),
      logo,
    },
    title: parts.title,
    facts: parts.facts,
    buyer: { label: words.billedTo, lines: customerLines(sums, options, writer) },
    columns: { description: words.description, period: words.period, amount: words.amount },
    rows: sums.lines.map((line) => ({
      description: descriptionOf(line),
      period: line.period && `${writer.date(line.period.start)} – ${writer.date(line.period.end)}`,
      amount: writer.money(line.amount, sums.currency),
    })),
    totals: totalsOf(sums, parts, writer),
    notes: parts.notes,
    footer,
    legal: legal.map(removeControlCharacters),
    pageNumber: (page, pages) =>
      `${sums.number} – ${words.page.replace('{page}', String(page)).replace('{pages}', String(pages))}`,
    ...(options.fonts && { fonts: options.fonts }),
  }
  const { renderPdf } = await importPrinter()
  return renderPdf(document)
}

async function importPrinter(): Promise<typeof import('@tollgate/invoices')> {
  try {
    return await import('@tollgate/invoices')
  } catch (cause) {
    const { code } = cause as { code?: unknown }
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw cause
    throw new MissingPackage('@tollgate/invoices', 'An invoice as PDF', { cause })
  }
}

function descriptionOf({ description, quantity }: InvoiceLine): string {
  // Stripe's descriptions start with the quantity already: `2 × Gold (at €10.00 / month)`.
  const counted = quantity === null || quantity < 2 || description.startsWith(`${quantity} `)
  return removeControlCharacters(counted ? description : `${quantity} × ${description}`)
}

function totalsOf(
  sums: PrintedAmounts,
  { afterTotal }: DocumentParts,
  writer: DocumentFormatter,
): PrintedTotal[] {
  const { discounts, taxes, subtotal, total, currency } = sums
  const { words } = writer
  const isSplit = discounts.length > 0 || taxes.length > 0
  const before: (readonly [string, number])[] = [
    ...(isSplit ? [[words.subtotal, subtotal] as const] : []),
    ...discounts.map((each) => [discountLabel(each, writer), -each.amount] as const),
    ...taxes.map((each) => [taxLabel(each, writer), each.amount] as const),
  ]
  const toTotal = ([label, amount]: readonly [string, number]) => ({
    label,
    amount: writer.money(amount, currency),
  })
  return [
    ...before.map(toTotal),
    { ...toTotal([words.total, total]), strong: true },
    ...afterTotal.map(toTotal),
  ]
}

function discountLabel({ name, percentOff }: InvoiceDiscount, writer: DocumentFormatter): string {
  const parts = [
    ...(name === null ? [] : [removeControlCharacters(name)]),
    ...(percentOff === null ? [] : [writer.percent(String(percentOff))]),
  ]
  const { discount } = writer.words
  return parts.length === 0 ? discount : `${discount} (${parts.join(', ')})`
}

function taxLabel(
  { percentage, inclusive }: InvoiceTax,
  { words, percent }: DocumentFormatter,
): string {
  if (percentage === null) return words.tax
  return `${words.tax} (${percent(percentage)}${inclusive ? ` ${words.included}` : ''})`
}

/**
 * Returns the customer's lines. Details given by the application replace the provider's address.
 */
function customerLines(
  { customer, customerTaxIds = [] }: PrintedAmounts,
  { customerDetails }: InvoicePdfOptions,
  { words, locale }: DocumentFormatter,
): string[] {
  const { name, email, address = [] } = customer
  const known = address.map((line) => (isCountry(line) ? countryName(line, locale) : line))
  const taxIds = customerTaxIds.map((id) => `${words.taxId} ${id}`)
  return [name, email, ...(customerDetails ?? known), ...taxIds]
    .filter((line): line is string => Boolean(line))
    .map(removeControlCharacters)
}

function isCountry(line: string): boolean {
  return /^[A-Z]{2}$/.test(line)
}

function countryName(code: string, locale: string): string {
  return (
    new Intl.DisplayNames([locale, 'en'], { type: 'region', fallback: 'code' }).of(code) ?? code
  )
}

/** Formats amounts, dates and texts in one locale. */
interface DocumentFormatter {
  readonly locale: string
  readonly words: InvoiceWords
  money(amount: number, currency: string): string
  date(date: Date): string
  percent(value: string): string
}

function createDocumentFormatter(options: InvoicePdfOptions): DocumentFormatter {
  if (!options?.vendor || !options.product) {
    throw new TypeError(
      'An invoice PDF needs { vendor, product }: the seller and the name of what is sold.',
    )
  }
  const locale = requireLocale('locale', options.locale ?? 'en-US')
  return {
    locale,
    words: { ...findLanguageWords(locale).invoice, ...omitUndefined(options.words ?? {}) },
    money: (amount, currency) =>
      replaceRareCharacters(formatMoney(money(amount, currency), locale)),
    date: (date) => replaceRareCharacters(datesOf(locale).format(date)),
    percent(value) {
      const format = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 4 })
      return replaceRareCharacters(format.format(Number(value) / 100))
    },
  }
}

const dateFormats = new Map<string, Intl.DateTimeFormat>()

/**
 * Returns a cached date format, because creating one takes a tenth of the time in which a page is
 * rendered.
 */
function datesOf(locale: string): Intl.DateTimeFormat {
  let format = dateFormats.get(locale)
  if (!format) {
    format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
    if (dateFormats.size > 100) dateFormats.clear()
    dateFormats.set(locale, format)
  }
  return format
}

/** Replaces characters of `Intl` that few fonts have: the wide yen sign and narrow spaces. */
function replaceRareCharacters(text: string): string {
  return text.normalize('NFKC')
}

/**
 * Removes control and direction-override characters from customers' names, which would garble the
 * page.
 */
function removeControlCharacters(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]+/gu, ' ').slice(0, 500)
}
