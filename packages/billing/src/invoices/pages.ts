import type PDFDocument from 'pdfkit'
import { formatMoney, money } from '../values/money.ts'
import { isRightToLeft } from '../words/all.ts'
import type { InvoiceWords } from '../words/words.ts'
import type { InvoiceDiscount, InvoiceLine, InvoiceTax } from './invoice-parts.ts'
import { TextWriter } from './pdf-text.ts'

/** What stands on the paper, whatever it is. Amounts are in the currency's smallest unit. */
export interface Paper {
  readonly title: string
  readonly number: string
  /** Under the title. */
  readonly facts: readonly string[]
  /** To whom it was written. */
  readonly customer: readonly string[]
  readonly lines: readonly InvoiceLine[]
  readonly currency: string
  readonly subtotal: number
  readonly discounts: readonly InvoiceDiscount[]
  readonly taxes: readonly InvoiceTax[]
  readonly total: number
  /** After the total, because what is above it adds up. */
  readonly afterTotal: readonly (readonly [label: string, amount: number])[]
  /** Sentences under the totals. */
  readonly notes: readonly string[]
}

/** Who writes it, and how. */
export interface Letterhead {
  readonly vendor: string
  /** Under the vendor. */
  readonly vendorLines: readonly string[]
  readonly logo: Uint8Array | null
  /** At the end of the last page. */
  readonly footer: string
  /** At the foot of every page. */
  readonly legal: readonly string[]
  readonly locale: string
  readonly words: InvoiceWords
}

export type PdfDocument = InstanceType<typeof PDFDocument>

export const MARGIN = 56
const GREY = '#666666'
const RULE = '#cccccc'
const PERIOD = 300
const LOGO = { width: 160, height: 44 } as const
const LEGAL_LINE = 10

/** Draws from the top to the bottom, over as many pages as it takes. */
export class PaperPages {
  readonly #document: PdfDocument
  readonly #paper: Paper
  readonly #head: Letterhead
  readonly #words: InvoiceWords
  readonly #text: TextWriter
  readonly #width: number
  readonly #bottom: number
  readonly #dates: Intl.DateTimeFormat
  #y = MARGIN

  constructor(document: PdfDocument, paper: Paper, head: Letterhead) {
    this.#document = document
    this.#paper = paper
    this.#head = head
    this.#words = head.words
    this.#text = new TextWriter(document, isRightToLeft(head.locale))
    this.#width = document.page.width - 2 * MARGIN
    this.#dates = datesOf(head.locale)
    this.#bottom = document.page.height - MARGIN - 24 - head.legal.length * LEGAL_LINE
  }

  draw(): void {
    this.#heading()
    this.#table()
    this.#totals()
    this.#notes()
    this.#feet()
  }

  #heading(): void {
    const { vendor, vendorLines, logo } = this.#head
    const { title, facts, customer } = this.#paper
    const width = this.#width / 2 - 12

    const seller = { x: MARGIN, width }
    let left = MARGIN
    if (logo)
      left += this.#text.picture(logo, { ...seller, y: left, width: LOGO.width }, LOGO.height) + 8
    this.#style('bold', 20, 'black')
    left = this.#text.write(vendor, { ...seller, y: left })
    this.#style('regular', 9, GREY)
    for (const line of vendorLines) left = this.#text.write(line, { ...seller, y: left })

    const far = { x: MARGIN + this.#width / 2 + 12, width, align: 'end' } as const
    this.#titleStyle(title, width)
    let right = this.#text.write(title, { ...far, y: MARGIN })
    this.#style('regular', 9, GREY)
    for (const fact of facts) right = this.#text.write(fact, { ...far, y: right })

    this.#y = Math.max(left, right) + 24
    const buyer = { x: MARGIN, width: this.#width }
    this.#y = this.#text.write(this.#words.billedTo, { ...buyer, y: this.#y })
    this.#style('regular', 10, 'black')
    for (const line of customer) this.#y = this.#text.write(line, { ...buyer, y: this.#y })
    this.#y += 24
  }

  #table(): void {
    this.#tableHead()
    for (const line of this.#paper.lines) this.#row(line)
  }

  #totals(): void {
    const { discounts, taxes, subtotal, total, afterTotal } = this.#paper
    const words = this.#words
    const rows: [string, number][] = []
    if (discounts.length > 0 || taxes.length > 0) rows.push([words.subtotal, subtotal])
    for (const discount of discounts) rows.push([this.#discountLabel(discount), -discount.amount])
    for (const { percentage, amount, inclusive } of taxes) {
      const included = inclusive ? ` ${words.included}` : ''
      const rate = percentage === null ? '' : ` (${this.#percent(percentage)}${included})`
      rows.push([`${words.tax}${rate}`, amount])
    }
    this.#breakBefore(18 * (rows.length + 2 + afterTotal.length))
    this.#y += 6
    for (const [label, amount] of rows) this.#total(label, amount, 'regular')
    this.#total(words.total, total, 'bold')
    for (const [label, amount] of afterTotal) this.#total(label, amount, 'regular')
  }

  #discountLabel({ name, percentOff }: InvoiceDiscount): string {
    const parts = [
      ...(name === null ? [] : [printable(name)]),
      ...(percentOff === null ? [] : [this.#percent(String(percentOff))]),
    ]
    const { discount } = this.#words
    return parts.length === 0 ? discount : `${discount} (${parts.join(', ')})`
  }

  #notes(): void {
    for (const note of this.#paper.notes) this.#paragraph(note, 9, 'black')
    if (this.#head.footer) this.#paragraph(this.#head.footer, 8, GREY)
  }

  #paragraph(text: string, size: number, colour: string): void {
    this.#style('regular', size, colour)
    this.#breakBefore(this.#text.heightOf(text, this.#width) + 24)
    this.#style('regular', size, colour)
    this.#y = this.#text.write(text, { x: MARGIN, width: this.#width, y: this.#y + 24 }) - 12
  }

  #feet(): void {
    const document = this.#document
    const { legal } = this.#head
    const { start, count } = document.bufferedPageRange()
    for (let index = start; index < start + count; index++) {
      document.switchToPage(index)
      document.page.margins.bottom = 0
      const box = { x: MARGIN, width: this.#width }
      let y = document.page.height - 40 - legal.length * LEGAL_LINE
      this.#style('regular', 7, GREY)
      for (const line of legal) {
        this.#text.write(line, { ...box, y })
        y += LEGAL_LINE
      }
      if (count < 2) continue
      this.#style('regular', 8, GREY)
      const page = this.#words.page
        .replace('{page}', String(index + 1))
        .replace('{pages}', String(count))
      this.#text.write(`${this.#paper.number} – ${page}`, { ...box, y, align: 'end' })
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

  /** As large as lets each of its words stay whole. */
  #titleStyle(title: string, width: number): void {
    for (let size = 20; size >= 10; size--) {
      this.#style('bold', size, 'black')
      if (title.split(' ').every((word) => this.#document.widthOfString(word) <= width)) return
    }
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
    return plain(formatMoney(money(amount, this.#paper.currency), this.#head.locale))
  }

  #percent(value: string): string {
    const { locale } = this.#head
    const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 4 })
    return plain(percent.format(Number(value) / 100))
  }

  #date(date: Date): string {
    return plain(this.#dates.format(date))
  }
}

const dateFormats = new Map<string, Intl.DateTimeFormat>()

/** Making a format takes a tenth of the time of a page. */
export function datesOf(locale: string): Intl.DateTimeFormat {
  let format = dateFormats.get(locale)
  if (!format) {
    format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
    if (dateFormats.size > 100) dateFormats.clear()
    dateFormats.set(locale, format)
  }
  return format
}

/** What `Intl` writes, as fonts have it: few know the wide yen sign and the narrow blanks. */
export function plain(text: string): string {
  return text.normalize('NFKC')
}

/** Names come from customers: control and direction-override characters would garble the page. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]+/gu, ' ').slice(0, 500)
}
