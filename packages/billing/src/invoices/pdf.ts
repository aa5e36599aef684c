import { said } from '../values/arguments.ts'
import { requireLocale } from '../values/locale.ts'
import type { Money } from '../values/money.ts'
import { wordsOf } from '../words/all.ts'
import type { InvoiceWords } from '../words/words.ts'
import type { CreditNoteData } from './credit-note.ts'
import { embeddedFonts, readFonts } from './fonts.ts'
import type { InvoiceData } from './invoice.ts'
import {
  datesOf,
  type Letterhead,
  MARGIN,
  type Paper,
  PaperPages,
  type PdfDocument,
  plain,
  printable,
} from './pages.ts'

/** How an invoice or a credit note looks as a PDF. */
export interface InvoicePdfOptions {
  /** Who sells. */
  readonly vendor: string
  /** What is sold; also begins the file's name. */
  readonly product: string
  /** Lines under the vendor: street, town, telephone, VAT number. */
  readonly vendorDetails?: readonly string[]
  /** A PNG or JPEG, above the vendor. */
  readonly logo?: Uint8Array
  /** Lines at the foot of every page: register, managing directors, bank. */
  readonly legal?: readonly string[]
  /** Lines under the customer: company, address, VAT number. Default: the address that the provider has. */
  readonly customerDetails?: readonly string[]
  /** What went back of the invoice, which `invoice.refunded()` knows: stands under the total. */
  readonly refunded?: Money
  /** At the end of the last page. */
  readonly footer?: string
  /**
   * The customer's language: how amounts and dates are written, which words stand beside them, and
   * from which side the page is read. Default: where it is downloaded, the owner's as everywhere; else `en-US`. In the
   * option `invoice`, for those of whom nobody knows another.
   */
  readonly locale?: string
  /** Words of your own, for a language we have none of or a term you prefer. */
  readonly words?: Partial<InvoiceWords>
  /** TrueType or OpenType files for scripts that DejaVu Sans does not have, such as Chinese. */
  readonly fonts?: { readonly regular: Uint8Array; readonly bold: Uint8Array }
}

/** The same invoice and options give the same bytes: nothing in it is of the moment. */
export function renderInvoice(
  invoice: InvoiceData,
  options: InvoicePdfOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const head = letterhead(options)
  return print(paperOfInvoice(invoice, options, head), head, invoice.date, options)
}

/** A credit note, with the number of the invoice that it takes back. The same bytes each time, too. */
export function renderCreditNote(
  note: CreditNoteData,
  options: InvoicePdfOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const head = letterhead(options)
  return print(paperOfCreditNote(note, options, head), head, note.date, options)
}

function paperOfInvoice(
  invoice: InvoiceData,
  options: InvoicePdfOptions,
  { words, locale }: Letterhead,
): Paper {
  const { number, date, paid, currency, total, amountDue, startingBalance } = invoice
  const { lines, subtotal, discounts, taxes } = invoice
  const balance: [string, number][] =
    startingBalance === 0
      ? []
      : [
          [startingBalance < 0 ? words.paidFromCredit : words.balanceFromBefore, amountDue - total],
          [paid ? words.amountPaid : words.amountDue, amountDue],
        ]
  const back = options.refunded?.amount ?? 0
  return {
    ...{ number, lines, currency, subtotal, discounts, taxes, total },
    title: paid ? words.receipt : words.invoice,
    facts: [`${words.number} ${number}`, `${words.date} ${writeDate(date, locale)}`],
    customer: customerLines(invoice, options, { words, locale }),
    afterTotal: [...balance, ...(back === 0 ? [] : [[words.refunded, -back] as const])],
    notes: invoice.reverseCharge ? [words.reverseCharge] : [],
  }
}

function paperOfCreditNote(
  note: CreditNoteData,
  options: InvoicePdfOptions,
  { words, locale }: Letterhead,
): Paper {
  const { number, date, lines, currency, subtotal, discounts, taxes, total, memo } = note
  const { refunded, toBalance, outside } = note.givenBack
  const ways: (readonly [string, number])[] = [
    [words.refunded, refunded],
    [words.toBalance, toBalance],
    [words.outside, outside],
  ]
  return {
    ...{ number, lines, currency, subtotal, discounts, taxes, total },
    title: words.creditNote,
    facts: [
      `${words.number} ${number}`,
      `${words.date} ${writeDate(date, locale)}`,
      `${words.forInvoice} ${note.invoiceNumber}`,
    ],
    customer: customerLines(note, options, { words, locale }),
    afterTotal: ways.filter(([, amount]) => amount !== 0),
    notes: [
      ...(memo === null ? [] : [printable(memo)]),
      ...(note.reverseCharge ? [words.reverseCharge] : []),
    ],
  }
}

/** Where the application says where the customer lives, that counts, and not what the provider knows. */
function customerLines(
  { customer, customerTaxIds = [] }: Pick<InvoiceData, 'customer' | 'customerTaxIds'>,
  { customerDetails }: InvoicePdfOptions,
  { words, locale }: Pick<Letterhead, 'words' | 'locale'>,
): string[] {
  const { name, email, address = [] } = customer
  const known = address.map((line) => (isCountry(line) ? countryName(line, locale) : line))
  const taxIds = customerTaxIds.map((id) => `${words.taxId} ${id}`)
  return [name, email, ...(customerDetails ?? known), ...taxIds]
    .filter((line): line is string => Boolean(line))
    .map(printable)
}

function isCountry(line: string): boolean {
  return /^[A-Z]{2}$/.test(line)
}

function countryName(code: string, locale: string): string {
  return (
    new Intl.DisplayNames([locale, 'en'], { type: 'region', fallback: 'code' }).of(code) ?? code
  )
}

function writeDate(date: Date, locale: string): string {
  return plain(datesOf(locale).format(date))
}

function letterhead(options: InvoicePdfOptions): Letterhead {
  if (!options?.vendor || !options.product) {
    throw new TypeError('An invoice needs { vendor, product }: who sells, and what.')
  }
  const locale = requireLocale('locale', options.locale ?? 'en-US')
  const { vendorDetails = [], logo, legal = [], footer = '' } = options
  return {
    vendor: printable(options.vendor),
    vendorLines: [options.product, ...vendorDetails].map(printable),
    logo: logo ?? null,
    legal: legal.map(printable),
    footer,
    locale,
    words: { ...wordsOf(locale).invoice, ...said(options.words ?? {}) },
  }
}

/** The libraries are loaded here because they take longer than all the rest of the package. */
async function print(
  paper: Paper,
  head: Letterhead,
  date: Date,
  { product, fonts: own }: InvoicePdfOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { default: PDFDocument } = await import('pdfkit')
  const fonts = await (own ? readFonts(own) : embeddedFonts())
  const document = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    bufferPages: true,
    font: '',
    lang: head.locale,
    info: {
      Title: `${printable(product)} ${paper.number}`,
      Author: head.vendor,
      Creator: 'Tollgate',
      Producer: 'Tollgate',
      CreationDate: date,
      ModDate: date,
    },
  })
  const bytes = collect(document)
  document.registerFont('regular', fonts.regular)
  document.registerFont('bold', fonts.bold)
  new PaperPages(document, paper, head).draw()
  document.end()
  return bytes
}

function collect(document: PdfDocument): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    document.on('data', (chunk: Buffer) => chunks.push(chunk))
    document.on('end', () => resolve(Uint8Array.from(Buffer.concat(chunks))))
    document.on('error', reject)
  })
}
