import type PDFDocument from 'pdfkit'
import { splitForDrawing } from './reading-order.ts'

type Document = InstanceType<typeof PDFDocument>

/**
 * A column of the page to write text in. The `align` value `end` aligns text to the side on which a
 * line ends in the reading direction.
 */
export interface TextBox {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly align?: 'start' | 'end'
}

/**
 * Writes on a page in reading direction. Boxes are specified for a page that is read from the left,
 * and are mirrored on a page that is read from the right.
 */
export class TextWriter {
  readonly #document: Document
  readonly #rightToLeft: boolean

  constructor(document: Document, rightToLeft: boolean) {
    this.#document = document
    this.#rightToLeft = rightToLeft
  }

  /** Writes text on as many lines as needed. Returns the position of the next line. */
  write(text: string, { x, y, width, align = 'start' }: TextBox): number {
    const document = this.#document
    const left = this.#rightToLeft ? document.page.width - x - width : x
    const atLeft = (align === 'start') !== this.#rightToLeft
    let line = y
    for (const words of this.#linesOf(text, width)) {
      const pieces = splitForDrawing(words, this.#rightToLeft ? 'rtl' : 'ltr')
      const widths = pieces.map((piece) => document.widthOfString(piece))
      let at = atLeft ? left : left + width - widths.reduce((sum, each) => sum + each, 0)
      for (const [index, piece] of pieces.entries()) {
        document.text(piece, at, line, { lineBreak: false })
        at += widths[index] ?? 0
      }
      line += document.currentLineHeight(true)
    }
    return line
  }

  heightOf(text: string, width: number): number {
    return this.#linesOf(text, width).length * this.#document.currentLineHeight(true)
  }

  /** Draws a picture that fits in its box. Returns its height. */
  picture(bytes: Uint8Array, { x, y, width: widest }: TextBox, maxHeight: number): number {
    // Missing from the typings.
    const { openImage } = this.#document as unknown as {
      openImage(this: Document, source: Buffer): { readonly width: number; readonly height: number }
    }
    const picture = openImage.call(this.#document, Buffer.from(bytes))
    const scale = Math.min(widest / picture.width, maxHeight / picture.height)
    const [width, height] = [picture.width * scale, picture.height * scale]
    const left = this.#rightToLeft ? this.#document.page.width - x - width : x
    this.#document.image(picture as unknown as Buffer, left, y, { width, height })
    return height
  }

  /** Draws a thin line over the box's width. */
  rule({ x, y, width }: TextBox, colour: string): void {
    const left = this.#rightToLeft ? this.#document.page.width - x - width : x
    this.#document
      .moveTo(left, y)
      .lineTo(left + width, y)
      .lineWidth(0.5)
      .stroke(colour)
  }

  /**
   * Breaks text into lines between words. A word that is wider than the box is broken where
   * necessary.
   */
  #linesOf(text: string, width: number): string[] {
    const lines: string[] = []
    let line = ''
    for (const word of text.split(' ')) {
      const longer = line === '' ? word : `${line} ${word}`
      if (this.#document.widthOfString(longer) <= width) {
        line = longer
        continue
      }
      if (line !== '') lines.push(line)
      const parts = this.#partsOf(word, width)
      line = parts.pop() ?? ''
      lines.push(...parts)
    }
    return [...lines, line]
  }

  #partsOf(word: string, width: number): string[] {
    const parts: string[] = []
    let part = ''
    for (const character of word) {
      if (part !== '' && this.#document.widthOfString(part + character) > width) {
        parts.push(part)
        part = ''
      }
      part += character
    }
    return [...parts, part]
  }
}
