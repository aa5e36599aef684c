import { describe, expect, it } from 'vitest'
import { splitForDrawing } from './reading-order.ts'

const NBSP = '\u00a0'

/** Simulates a font, which prints Hebrew and Arabic from the right. */
const drawn = (pieces: readonly string[]) =>
  pieces
    .map((piece) => (/[\u0590-\u06ff]/.test(piece) ? [...piece].reverse().join('') : piece))
    .join('')
    .replaceAll(NBSP, ' ')

describe('splitForDrawing(), which splits a line into pieces to be drawn from left to right,', () => {
  it.each([
    ['plain text', 'Gold (monthly)', 'Gold (monthly)'],
    ['brackets in Hebrew', 'אב (גד)', '(דג) בא'],
    ['square brackets and a number in Hebrew', 'אב 12 [גד]', '[דג] 12 בא'],
    ['Latin within Hebrew', 'אב Gold (x) גד', 'דג Gold (x) בא'],
    ['Hebrew within Latin', 'Gold (אב גד)!', 'Gold (דג בא)!'],
    ['brackets around Hebrew alone', '(אב)', '(בא)'],
    ['digits of Arabic', 'اب ٢٠٫٢٥', '٢٠٫٢٥ با'],
  ])('returns the pieces in the order of drawing for %s', (_, line, expected) => {
    expect(drawn(splitForDrawing(line))).toBe(expected)
  })

  it.each([
    ['ltr', '20 €', '20 €'],
    ['rtl', '20 €', '€ 20'],
    ['rtl', '1 Main Street', '1 Main Street'],
    ['rtl', '\u200f\u200e-2.55 \u200f€', '€ -2.55'],
    ['rtl', '\u061c-\u200f٢٫٥٥ €', '€ ٢٫٥٥-'],
    ['rtl', '٠١\u200f/٠٣\u200f/٢٠٢٦', '٢٠٢٦/٠٣/٠١'],
  ] as const)(
    'uses the direction of a page (%s) for a line without letters: %j',
    (page, line, expected) => {
      expect(drawn(splitForDrawing(line, page))).toBe(expected)
    },
  )

  it('keeps consecutive right-to-left words in one piece', () => {
    expect(splitForDrawing('אב גד')).toEqual([`אב${NBSP}גד`])
  })

  it('returns no pieces for an empty line', () => {
    expect(splitForDrawing('')).toEqual([])
  })
})
