import bidiModule, { type Bidi } from 'bidi-js'

/** The typings speak of the ES module; Node gets the CommonJS one, which is the function itself. */
const bidi = (bidiModule as unknown as () => Bidi)()

export type Direction = 'ltr' | 'rtl'

/**
 * One printed line as the pieces to draw from left to right, each of one direction (Unicode's
 * bidirectional algorithm, UAX 9). The line is read in the direction of its first letter, one
 * without letters in that of its page. Fonts turn Hebrew and Arabic around themselves: a piece is
 * written the way that comes out right. Brackets are already the other way round, marks of direction
 * are gone.
 */
export function piecesFromLeft(line: string, page: Direction = 'ltr'): string[] {
  const base = directionOf(line) ?? page
  if (base === 'ltr' && !RTL.test(line)) return line === '' ? [] : [line.replace(MARKS, '')]
  const embedding = bidi.getEmbeddingLevels(line, base)
  const mirrored = bidi.getMirroredCharactersMap(line, embedding.levels)
  const runs: { text: string; level: number }[] = []
  for (const index of bidi.getReorderedIndices(line, embedding)) {
    const level = embedding.levels[index] ?? 0
    const character = mirrored.get(index) ?? line.charAt(index)
    const last = runs.at(-1)
    if (last?.level !== level) runs.push({ text: character, level })
    else last.text = isRtl(level) ? character + last.text : last.text + character
  }
  return runs.flatMap(({ text, level }) => toPieces(text.replace(MARKS, ''), level))
}

/** What is read from the right; digits of Arabic are not, but fonts take them for its letters. */
const RTL = /[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\p{sc=Adlm}\u200f\u061c]/u
const ARABIC_DIGITS = /([\u0660-\u066c\u06f0-\u06f9]+)/
const MARKS = /\p{Cf}+/gu

function directionOf(line: string): Direction | null {
  const first = /[\p{L}\u200e\u200f\u061c]/u.exec(line)?.[0]
  if (first === undefined) return null
  return RTL.test(first) ? 'rtl' : 'ltr'
}

function isRtl(level: number): boolean {
  return level % 2 === 1
}

function toPieces(text: string, level: number): string[] {
  if (isRtl(level)) return [RTL.test(text) ? asOneWord(text) : turned(text)]
  return text
    .split(ARABIC_DIGITS)
    .filter((part) => part !== '')
    .map((part) => (ARABIC_DIGITS.test(part) ? turned(part) : part))
}

/** The PDF library lays out word by word, from the left: words read from the right must be one to it. */
function asOneWord(text: string): string {
  return text.replaceAll(' ', '\u00a0')
}

function turned(text: string): string {
  return [...text].reverse().join('')
}
