import type PDFDocument from 'pdfkit'
import type { PrintedDocument, PrintedRow, PrintedTotal } from './document.ts'
import { TextWriter } from './text-writer.ts'

export type PdfDocument = InstanceType<typeof PDFDocument>

export const PAGE_MARGIN = 56
const GREY = '#666666'
const RULE = '#cccccc'
const PERIOD = 300
const LOGO = { width: 160, height: 44 } as const
const LEGAL_LINE = 10

/** Draws a document from top to bottom, on as many pages as needed. */
export class PdfPages {
  readonly #document: PdfDocument
  readonly #printed: PrintedDocument
  readonly #text: TextWriter
  readonly #width: number
  readonly #bottom: number
  #y = PAGE_MARGIN

  constructor(document: PdfDocument, printed: PrintedDocument) {
    this.#document = document
    this.#printed = printed
    this.#text = new TextWriter(document, printed.rightToLeft)
    this.#width = document.page.width - 2 * PAGE_MARGIN
    this.#bottom = document.page.height - PAGE_MARGIN - 24 - printed.legal.length * LEGAL_LINE
  }

  draw(): void {
    this.#heading()
    this.#table()
    this.#totals()
    this.#notes()
    this.#drawFooters()
  }

  #heading(): void {
    const { seller: vendor, title, facts, buyer: customer } = this.#printed
    const width = this.#width / 2 - 12

    const seller = { x: PAGE_MARGIN, width }
    let left = PAGE_MARGIN
    if (vendor.logo) {
      const place = { ...seller, y: left, width: LOGO.width }
      left += this.#text.picture(vendor.logo, place, LOGO.height) + 8
    }
    this.#style('bold', 20, 'black')
    left = this.#text.write(vendor.name, { ...seller, y: left })
    this.#style('regular', 9, GREY)
    for (const line of vendor.lines) left = this.#text.write(line, { ...seller, y: left })

    const far = { x: PAGE_MARGIN + this.#width / 2 + 12, width, align: 'end' } as const
    this.#titleStyle(title, width)
    let right = this.#text.write(title, { ...far, y: PAGE_MARGIN })
    this.#style('regular', 9, GREY)
    for (const fact of facts) right = this.#text.write(fact, { ...far, y: right })

    this.#y = Math.max(left, right) + 24
    const buyer = { x: PAGE_MARGIN, width: this.#width }
    this.#y = this.#text.write(customer.label, { ...buyer, y: this.#y })
    this.#style('regular', 10, 'black')
    for (const line of customer.lines) this.#y = this.#text.write(line, { ...buyer, y: this.#y })
    this.#y += 24
  }

  #table(): void {
    this.#tableHead()
    for (const row of this.#printed.rows) this.#row(row)
  }

  #totals(): void {
    const { totals } = this.#printed
    this.#breakBefore(18 * (totals.length + 1))
    this.#y += 6
    for (const total of totals) this.#total(total)
  }

  #notes(): void {
    const { notes, footer } = this.#printed
    for (const note of notes) this.#paragraph(note, 9, 'black')
    if (footer) this.#paragraph(footer, 8, GREY)
  }

  #paragraph(text: string, size: number, colour: string): void {
    this.#style('regular', size, colour)
    this.#breakBefore(this.#text.heightOf(text, this.#width) + 24)
    this.#style('regular', size, colour)
    this.#y = this.#text.write(text, { x: PAGE_MARGIN, width: this.#width, y: this.#y + 24 }) - 12
  }

  #drawFooters(): void {
    const document = this.#document
    const { legal } = this.#printed
    const { start, count } = document.bufferedPageRange()
    for (let index = start; index < start + count; index++) {
      document.switchToPage(index)
      document.page.margins.bottom = 0
      const box = { x: PAGE_MARGIN, width: this.#width }
      let y = document.page.height - 40 - legal.length * LEGAL_LINE
      this.#style('regular', 7, GREY)
      for (const line of legal) {
        this.#text.write(line, { ...box, y })
        y += LEGAL_LINE
      }
      if (count < 2) continue
      this.#style('regular', 8, GREY)
      const page = this.#printed.pageNumber(index + 1, count)
      this.#text.write(page, { ...box, y, align: 'end' })
    }
  }

  #tableHead(): void {
    const { description, period, amount } = this.#printed.columns
    this.#style('regular', 9, GREY)
    this.#text.write(description, { x: PAGE_MARGIN, y: this.#y, width: PERIOD - PAGE_MARGIN - 12 })
    this.#text.write(period, { x: PERIOD, y: this.#y, width: 150 })
    this.#amount(amount)
    this.#y += 16
    this.#rule()
    this.#y += 6
  }

  #row({ description, period, amount }: PrintedRow): void {
    const width = PERIOD - PAGE_MARGIN - 12
    this.#style('regular', 10, 'black')
    const height = Math.max(this.#text.heightOf(description, width), 12)
    if (this.#breakBefore(height + 8)) this.#tableHead()
    this.#style('regular', 10, 'black')
    this.#text.write(description, { x: PAGE_MARGIN, y: this.#y, width })
    if (period) {
      this.#style('regular', 9, GREY)
      this.#text.write(period, { x: PERIOD, y: this.#y + 1, width: 150 })
    }
    this.#style('regular', 10, 'black')
    this.#amount(amount)
    this.#y += Math.max(height, period ? 12 : 0) + 8
  }

  #total({ label, amount, strong = false }: PrintedTotal): void {
    if (strong) this.#rule(PERIOD)
    this.#y += 4
    this.#style(strong ? 'bold' : 'regular', 10, 'black')
    const after = this.#text.write(label, { x: PERIOD, y: this.#y, width: 150 })
    this.#amount(amount)
    this.#y = after + 2
  }

  /** Prints an amount at the end of the current line, in the width that it needs. */
  #amount(text: string): void {
    this.#text.write(text, { x: PAGE_MARGIN, y: this.#y, width: this.#width, align: 'end' })
  }

  #rule(from = PAGE_MARGIN): void {
    this.#text.rule({ x: from, y: this.#y, width: PAGE_MARGIN + this.#width - from }, RULE)
  }

  /** Chooses the largest font size at which no word of the title has to be broken. */
  #titleStyle(title: string, width: number): void {
    for (let size = 20; size >= 10; size--) {
      this.#style('bold', size, 'black')
      if (title.split(' ').every((word) => this.#document.widthOfString(word) <= width)) return
    }
  }

  #style(font: 'regular' | 'bold', size: number, colour: string): void {
    this.#document.font(font).fontSize(size).fillColor(colour)
  }

  /** Starts a new page if the next block does not fit. Returns whether it did. */
  #breakBefore(height: number): boolean {
    if (this.#y + height <= this.#bottom) return false
    this.#document.addPage()
    this.#y = PAGE_MARGIN
    return true
  }
}
