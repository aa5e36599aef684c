import { readFileSync } from 'node:fs'
import * as fontkit from 'fontkit'
import PDFDocument from 'pdfkit'
import { formatMoney, money } from '../values/money.ts'
import type { InvoiceData, InvoiceLine } from './invoice.ts'

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
  /** How amounts and dates are written. Default `en-US`. */
  readonly locale?: string
  /** TrueType or OpenType files for scripts that DejaVu Sans does not have, such as Chinese. */
  readonly fonts?: { readonly regular: Uint8Array; readonly bold: Uint8Array }
}

type Document = InstanceType<typeof PDFDocument>

const MARGIN = 56
const GREY = '#666666'
const RULE = '#cccccc'
const COLUMNS = { description: MARGIN, period: 300 }

/** The same invoice and options give the same bytes: nothing in it is of the moment. */
export function renderInvoice(
  invoice: InvoiceData,
  options: InvoicePdfOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const clean = cleanOptions(options)
  const document = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    bufferPages: true,
    font: '',
    info: {
      Title: `${clean.product} ${invoice.number}`,
      Author: clean.vendor,
      Creator: 'Tollgate',
      Producer: 'Tollgate',
      CreationDate: invoice.date,
      ModDate: invoice.date,
    },
  })
  const bytes = collect(document)
  const fonts = options.fonts ? readFonts(options.fonts) : embeddedFonts()
  document.registerFont('regular', fonts.regular)
  document.registerFont('bold', fonts.bold)
  const page = new InvoicePage(document, invoice, clean)
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
  readonly #width: number
  readonly #bottom: number
  readonly #dates: Intl.DateTimeFormat
  #y = MARGIN

  constructor(document: Document, invoice: InvoiceData, options: InvoicePdfOptions) {
    this.#document = document
    this.#invoice = invoice
    this.#options = options
    this.#width = document.page.width - 2 * MARGIN
    this.#dates = datesOf(options.locale ?? 'en-US')
    this.#bottom = document.page.height - MARGIN - 24
  }

  heading(): void {
    const { vendor, product, vendorDetails = [], customerDetails = [] } = this.#options
    const { number, date, customer, paid } = this.#invoice
    const document = this.#document
    const half = this.#width / 2 - 12
    const right = MARGIN + this.#width / 2 + 12

    document.font('bold').fontSize(20).text(vendor, MARGIN, MARGIN, { width: half })
    document.font('regular').fontSize(9).fillColor(GREY)
    for (const line of [product, ...vendorDetails]) document.text(line, { width: half })
    const leftEnd = document.y

    document.fillColor('black').font('bold').fontSize(20)
    document.text(paid ? 'Receipt' : 'Invoice', right, MARGIN, { width: half, align: 'right' })
    document.font('regular').fontSize(9).fillColor(GREY)
    document.text(`Number ${number}`, { width: half, align: 'right' })
    document.text(`Date ${this.#date(date)}`, { width: half, align: 'right' })

    this.#y = Math.max(leftEnd, document.y) + 24
    document.text('Billed to', MARGIN, this.#y)
    document.fillColor('black').fontSize(10)
    const lines = [customer.name, customer.email, ...customerDetails].filter(
      (line): line is string => typeof line === 'string' && line !== '',
    )
    for (const line of lines) document.text(printable(line), { width: this.#width })
    this.#y = document.y + 24
  }

  table(): void {
    this.#tableHead()
    for (const line of this.#invoice.lines) this.#row(line)
  }

  totals(): void {
    const { discounts, taxes, subtotal, total } = this.#invoice
    const rows: [string, number][] = []
    if (discounts.length > 0 || taxes.length > 0) rows.push(['Subtotal', subtotal])
    for (const { label, amount } of discounts) rows.push([printable(label), -amount])
    for (const { percentage, amount, inclusive } of taxes) {
      const rate = percentage === null ? '' : ` (${percentage} %${inclusive ? ' included' : ''})`
      rows.push([`Tax${rate}`, amount])
    }
    const due = this.#due()
    this.#breakBefore(18 * (rows.length + 2 + due.length))
    this.#y += 6
    for (const [label, amount] of rows) this.#total(label, amount, 'regular')
    this.#total('Total', total, 'bold')
    for (const [label, amount] of due) this.#total(label, amount, 'regular')
  }

  /** After the total, so that what is above it adds up: what a balance from before changed. */
  #due(): [string, number][] {
    const { total, amountDue, startingBalance, paid } = this.#invoice
    if (startingBalance === 0) return []
    return [
      [startingBalance < 0 ? 'Paid from credit' : 'Balance from before', amountDue - total],
      [paid ? 'Amount paid' : 'Amount due', amountDue],
    ]
  }

  footer(): void {
    const document = this.#document
    const { footer } = this.#options
    if (footer) {
      document.font('regular').fontSize(8).fillColor(GREY)
      const height = document.heightOfString(footer, { width: this.#width })
      this.#breakBefore(height + 24)
      document.font('regular').fontSize(8).fillColor(GREY)
      document.text(footer, MARGIN, this.#y + 24, { width: this.#width })
    }
    const { start, count } = document.bufferedPageRange()
    if (count < 2) return
    for (let index = start; index < start + count; index++) {
      document.switchToPage(index)
      document.page.margins.bottom = 0
      document.font('regular').fontSize(8).fillColor(GREY)
      const text = `${this.#invoice.number} – page ${index + 1} of ${count}`
      document.text(text, MARGIN, document.page.height - 40, {
        width: this.#width,
        align: 'right',
        lineBreak: false,
      })
    }
  }

  #tableHead(): void {
    const document = this.#document
    document.font('regular').fontSize(9).fillColor(GREY)
    document.text('Description', COLUMNS.description, this.#y)
    document.text('Period', COLUMNS.period, this.#y)
    this.#right('Amount', this.#y)
    this.#y += 16
    this.#rule()
    this.#y += 6
  }

  #row({ description, quantity, period, amount }: InvoiceLine): void {
    const document = this.#document
    // Stripe's own texts begin with it: `2 × Gold (at €10.00 / month)`.
    const counted = quantity === null || quantity < 2 || description.startsWith(`${quantity} `)
    const text = printable(counted ? description : `${quantity} × ${description}`)
    const width = COLUMNS.period - COLUMNS.description - 12
    document.font('regular').fontSize(10)
    const height = Math.max(document.heightOfString(text, { width }), 12)
    if (this.#breakBefore(height + 8)) this.#tableHead()
    document.font('regular').fontSize(10).fillColor('black')
    document.text(text, COLUMNS.description, this.#y, { width })
    if (period) {
      document.fontSize(9).fillColor(GREY)
      const days = `${this.#date(period.start)} – ${this.#date(period.end)}`
      document.text(days, COLUMNS.period, this.#y + 1, { width: 150 })
    }
    document.fontSize(10).fillColor('black')
    this.#right(this.#money(amount), this.#y)
    this.#y += Math.max(height, period ? 12 : 0) + 8
  }

  #total(label: string, amount: number, font: 'regular' | 'bold'): void {
    const document = this.#document
    if (font === 'bold') this.#rule(COLUMNS.period)
    this.#y += 4
    document.font(font).fontSize(10).fillColor('black')
    document.text(label, COLUMNS.period, this.#y, { width: 150 })
    const after = document.y
    this.#right(this.#money(amount), this.#y)
    this.#y = Math.max(after, document.y) + 2
  }

  #right(text: string, y: number): void {
    const start = MARGIN + this.#width - this.#document.widthOfString(text)
    this.#document.text(text, start, y, { lineBreak: false })
  }

  #rule(from = MARGIN): void {
    const end = MARGIN + this.#width
    this.#document.moveTo(from, this.#y).lineTo(end, this.#y).lineWidth(0.5).stroke(RULE)
  }

  /** Goes to a new page when what comes next would not fit; says whether it did. */
  #breakBefore(height: number): boolean {
    if (this.#y + height <= this.#bottom) return false
    this.#document.addPage()
    this.#y = MARGIN
    return true
  }

  #money(amount: number): string {
    const text = formatMoney(money(amount, this.#invoice.currency), this.#options.locale)
    // The wide yen sign and narrow blanks of some locales are in few fonts.
    return text.normalize('NFKC')
  }

  #date(date: Date): string {
    return this.#dates.format(date)
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

/** Names come from customers: control and direction-override characters would garble the page. */
function printable(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]+/gu, ' ')
    .replace(BETWEEN_RTL_WORDS, '\u00a0')
    .slice(0, 500)
}

/** The page is laid out word by word from the left: words to be read from the right must be one. */
const BETWEEN_RTL_WORDS =
  /(?<=[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}]) (?=[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}])/gu

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

/** A parsed font, which pdfkit takes as well; its typings know only files and bytes. */
type Font = Parameters<Document['registerFont']>[1]

interface Fonts {
  readonly regular: Font
  readonly bold: Font
}

let embedded: Fonts | undefined

/** Parsed once: that takes longer than printing a page. */
function embeddedFonts(): Fonts {
  if (!embedded) {
    // Asked for in this way, bundlers leave the files alone: Next's would try to compile the fonts.
    const { createRequire } = process.getBuiltinModule('node:module')
    const { resolve } = createRequire(import.meta.url)
    const read = (name: string) => readFileSync(resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`))
    embedded = readFonts({ regular: read('DejaVuSans'), bold: read('DejaVuSans-Bold') })
  }
  return embedded
}

function readFonts(files: { readonly regular: Uint8Array; readonly bold: Uint8Array }): Fonts {
  const parse = (bytes: Uint8Array) => fontkit.create(Buffer.from(bytes)) as unknown as Font
  return { regular: parse(files.regular), bold: parse(files.bold) }
}

function collect(document: Document): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    document.on('data', (chunk: Buffer) => chunks.push(chunk))
    document.on('end', () => resolve(Uint8Array.from(Buffer.concat(chunks))))
    document.on('error', reject)
  })
}
