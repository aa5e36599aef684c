import type PDFDocument from 'pdfkit'
import { formatMoney, money } from '../values/money.ts'
import { embeddedFonts, readFonts } from './fonts.ts'
import type { InvoiceData, InvoiceDiscount, InvoiceLine } from './invoice.ts'
import { TextWriter } from './pdf-text.ts'
import { type InvoiceWords, isRightToLeft, wordsOf } from './words.ts'

/** How an invoice looks as a PDF. */
export interface InvoicePdfOptions {
  /** Who sells. */
  readonly vendor: string
  /** What is sold; also begins the file's name. */
  readonly product: string
  /** Lines under the vendor: street, town, telephone, VAT number. */
  readonly vendorDetails?: readonly string[]
  /** Lines under the customer: company, address, VAT number. */
  readonly customerDetails?: readonly string[]
  /** At the end of the last page. */
  readonly footer?: string
  /**
   * The customer's language: how amounts and dates are written, which words stand beside them, and
   * from which side the page is read. Default `en-US`.
   */
  readonly locale?: string
  /** Words of your own, for a language we have none of or a term you prefer. */
  readonly words?: Partial<InvoiceWords>
  /** TrueType or OpenType files for scripts that DejaVu Sans does not have, such as Chinese. */
  readonly fonts?: { readonly regular: Uint8Array; readonly bold: Uint8Array }
}

type Document = InstanceType<typeof PDFDocument>

const MARGIN = 56
const GREY = '#666666'
const RULE = '#cccccc'
const PERIOD = 300

/** The same invoice and options give the same bytes: nothing in it is of the moment. */
export function renderInvoice(
  invoice: InvoiceData,
  options: InvoicePdfOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  return draw(invoice, cleanOptions(options))
}

/** The libraries are loaded here because they take longer than all the rest of the package. */
async function draw(
  invoice: InvoiceData,
  options: InvoicePdfOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { default: PDFDocument } = await import('pdfkit')
  const fonts = await (options.fonts ? readFonts(options.fonts) : embeddedFonts())
  const document = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    bufferPages: true,
    font: '',
    lang: options.locale ?? 'en-US',
    info: {
      Title: `${options.product} ${invoice.number}`,
      Author: options.vendor,
      Creator: 'Tollgate',
      Producer: 'Tollgate',
      CreationDate: invoice.date,
      ModDate: invoice.date,
    },
  })
  const bytes = collect(document)
  document.registerFont('regular', fonts.regular)
  document.registerFont('bold', fonts.bold)
  const page = new InvoicePage(document, invoice, options)
  page.heading()
  page.table()
  page.totals()
  page.footer()
  document.end()
  return bytes
}

class InvoicePage {
  readonly #document: Document
  readonly #invoice: InvoiceData
  readonly #options: InvoicePdfOptions
  readonly #words: InvoiceWords
  readonly #text: TextWriter
  readonly #width: number
  readonly #bottom: number
  readonly #dates: Intl.DateTimeFormat
  #y = MARGIN

  constructor(document: Document, invoice: InvoiceData, options: InvoicePdfOptions) {
    const locale = options.locale ?? 'en-US'
    this.#document = document
    this.#invoice = invoice
    this.#options = options
    this.#words = { ...wordsOf(locale), ...options.words }
    this.#text = new TextWriter(document, isRightToLeft(locale))
    this.#width = document.page.width - 2 * MARGIN
    this.#dates = datesOf(locale)
    this.#bottom = document.page.height - MARGIN - 24
  }

  heading(): void {
    const { vendor, product, vendorDetails = [], customerDetails = [] } = this.#options
    const { number, date, customer, paid } = this.#invoice
    const words = this.#words
    const width = this.#width / 2 - 12

    const seller = { x: MARGIN, width }
    this.#style('bold', 20, 'black')
    let left = this.#text.write(vendor, { ...seller, y: MARGIN })
    this.#style('regular', 9, GREY)
    for (const line of [product, ...vendorDetails]) {
      left = this.#text.write(line, { ...seller, y: left })
    }

    const title = { x: MARGIN + this.#width / 2 + 12, width, align: 'end' } as const
    this.#style('bold', 20, 'black')
    let right = this.#text.write(paid ? words.receipt : words.invoice, { ...title, y: MARGIN })
    this.#style('regular', 9, GREY)
    right = this.#text.write(`${words.number} ${number}`, { ...title, y: right })
    right = this.#text.write(`${words.date} ${this.#date(date)}`, { ...title, y: right })

    this.#y = Math.max(left, right) + 24
    const buyer = { x: MARGIN, width: this.#width }
    this.#y = this.#text.write(words.billedTo, { ...buyer, y: this.#y })
    this.#style('regular', 10, 'black')
    const taxIds = (this.#invoice.customerTaxIds ?? []).map((id) => `${words.taxId} ${id}`)
    for (const line of [customer.name, customer.email, ...customerDetails, ...taxIds]) {
      if (line) this.#y = this.#text.write(printable(line), { ...buyer, y: this.#y })
    }
    this.#y += 24
  }

  table(): void {
    this.#tableHead()
    for (const line of this.#invoice.lines) this.#row(line)
  }

  totals(): void {
    const { discounts, taxes, subtotal, total } = this.#invoice
    const words = this.#words
    const rows: [string, number][] = []
    if (discounts.length > 0 || taxes.length > 0) rows.push([words.subtotal, subtotal])
    for (const discount of discounts) rows.push([this.#discountLabel(discount), -discount.amount])
    for (const { percentage, amount, inclusive } of taxes) {
      const included = inclusive ? ` ${words.included}` : ''
      const rate = percentage === null ? '' : ` (${this.#percent(percentage)}${included})`
      rows.push([`${words.tax}${rate}`, amount])
    }
    const due = this.#due()
    this.#breakBefore(18 * (rows.length + 2 + due.length))
    this.#y += 6
    for (const [label, amount] of rows) this.#total(label, amount, 'regular')
    this.#total(words.total, total, 'bold')
    for (const [label, amount] of due) this.#total(label, amount, 'regular')
    if (this.#invoice.reverseCharge) this.#note(words.reverseCharge)
  }

  #note(text: string): void {
    this.#breakBefore(24)
    this.#style('regular', 9, 'black')
    this.#y = this.#text.write(text, {
      x: MARGIN,
      width: this.#width,
      y: this.#y + 6,
      align: 'end',
    })
  }

  /** After the total, so that what is above it adds up: what a balance from before changed. */
  #due(): [string, number][] {
    const { total, amountDue, startingBalance, paid } = this.#invoice
    const words = this.#words
    if (startingBalance === 0) return []
    return [
      [startingBalance < 0 ? words.paidFromCredit : words.balanceFromBefore, amountDue - total],
      [paid ? words.amountPaid : words.amountDue, amountDue],
    ]
  }

  #discountLabel({ name, percentOff }: InvoiceDiscount): string {
    const parts = [
      ...(name === null ? [] : [printable(name)]),
      ...(percentOff === null ? [] : [this.#percent(String(percentOff))]),
    ]
    const { discount } = this.#words
    return parts.length === 0 ? discount : `${discount} (${parts.join(', ')})`
  }

  footer(): void {
    const document = this.#document
    const { footer } = this.#options
    const box = { x: MARGIN, width: this.#width }
    this.#style('regular', 8, GREY)
    if (footer) {
      this.#breakBefore(this.#text.heightOf(footer, this.#width) + 24)
      this.#style('regular', 8, GREY)
      this.#text.write(footer, { ...box, y: this.#y + 24 })
    }
    const { start, count } = document.bufferedPageRange()
    if (count < 2) return
    for (let index = start; index < start + count; index++) {
      document.switchToPage(index)
      document.page.margins.bottom = 0
      this.#style('regular', 8, GREY)
      const page = this.#words.page
        .replace('{page}', String(index + 1))
        .replace('{pages}', String(count))
      const y = document.page.height - 40
      this.#text.write(`${this.#invoice.number} – ${page}`, { ...box, y, align: 'end' })
    }
  }

  #tableHead(): void {
    const { description, period, amount } = this.#words
    this.#style('regular', 9, GREY)
    this.#text.write(description, { x: MARGIN, y: this.#y, width: PERIOD - MARGIN - 12 })
    this.#text.write(period, { x: PERIOD, y: this.#y, width: 150 })
    this.#amount(amount)
    this.#y += 16
    this.#rule()
    this.#y += 6
  }

  #row({ description, quantity, period, amount }: InvoiceLine): void {
    // Stripe's own texts begin with it: `2 × Gold (at €10.00 / month)`.
    const counted = quantity === null || quantity < 2 || description.startsWith(`${quantity} `)
    const text = printable(counted ? description : `${quantity} × ${description}`)
    const width = PERIOD - MARGIN - 12
    this.#style('regular', 10, 'black')
    const height = Math.max(this.#text.heightOf(text, width), 12)
    if (this.#breakBefore(height + 8)) this.#tableHead()
    this.#style('regular', 10, 'black')
    this.#text.write(text, { x: MARGIN, y: this.#y, width })
    if (period) {
      this.#style('regular', 9, GREY)
      const days = `${this.#date(period.start)} – ${this.#date(period.end)}`
      this.#text.write(days, { x: PERIOD, y: this.#y + 1, width: 150 })
    }
    this.#style('regular', 10, 'black')
    this.#amount(this.#money(amount))
    this.#y += Math.max(height, period ? 12 : 0) + 8
  }

  #total(label: string, amount: number, font: 'regular' | 'bold'): void {
    if (font === 'bold') this.#rule(PERIOD)
    this.#y += 4
    this.#style(font, 10, 'black')
    const after = this.#text.write(label, { x: PERIOD, y: this.#y, width: 150 })
    this.#amount(this.#money(amount))
    this.#y = after + 2
  }

  /** On the far side of the current line; as wide as it needs to be. */
  #amount(text: string): void {
    this.#text.write(text, { x: MARGIN, y: this.#y, width: this.#width, align: 'end' })
  }

  #rule(from = MARGIN): void {
    this.#text.rule({ x: from, y: this.#y, width: MARGIN + this.#width - from }, RULE)
  }

  #style(font: 'regular' | 'bold', size: number, colour: string): void {
    this.#document.font(font).fontSize(size).fillColor(colour)
  }

  /** Goes to a new page when what comes next would not fit; says whether it did. */
  #breakBefore(height: number): boolean {
    if (this.#y + height <= this.#bottom) return false
    this.#document.addPage()
    this.#y = MARGIN
    return true
  }

  #money(amount: number): string {
    return plain(formatMoney(money(amount, this.#invoice.currency), this.#options.locale))
  }

  #percent(value: string): string {
    const { locale } = this.#options
    const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 4 })
    return plain(percent.format(Number(value) / 100))
  }

  #date(date: Date): string {
    return plain(this.#dates.format(date))
  }
}

const dateFormats = new Map<string, Intl.DateTimeFormat>()

/** Making a format takes a tenth of the time of a page. */
function datesOf(locale: string): Intl.DateTimeFormat {
  let format = dateFormats.get(locale)
  if (!format) {
    format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
    if (dateFormats.size > 100) dateFormats.clear()
    dateFormats.set(locale, format)
  }
  return format
}

/** What `Intl` writes, as fonts have it: few know the wide yen sign and the narrow blanks. */
function plain(text: string): string {
  return text.normalize('NFKC')
}

/** Names come from customers: control and direction-override characters would garble the page. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]+/gu, ' ').slice(0, 500)
}

function cleanOptions(options: InvoicePdfOptions): InvoicePdfOptions {
  if (!options?.vendor || !options.product) {
    throw new TypeError('An invoice needs { vendor, product }: who sells, and what.')
  }
  return {
    ...options,
    vendor: printable(options.vendor),
    product: printable(options.product),
    vendorDetails: (options.vendorDetails ?? []).map(printable),
    customerDetails: (options.customerDetails ?? []).map(printable),
  }
}

function collect(document: Document): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    document.on('data', (chunk: Buffer) => chunks.push(chunk))
    document.on('end', () => resolve(Uint8Array.from(Buffer.concat(chunks))))
    document.on('error', reject)
  })
}
