import bidiModule, { type Bidi } from 'bidi-js'

/**
 * The typings describe the ES module, but Node loads the CommonJS one, which is the function
 * itself.
 */
const bidi = (bidiModule as unknown as () => Bidi)()

export type TextDirection = 'ltr' | 'rtl'

/**
 * Splits one printed line into pieces of one direction each, to be drawn from left to right
 * (Unicode's bidirectional algorithm, UAX 9). The line has the direction of its first letter, or of
 * its page if it has no letters. Fonts reverse Hebrew and Arabic themselves, so a piece is in the
 * order that the font expects. Brackets are already mirrored, and directional marks are removed.
 */
export function splitForDrawing(line: string, page: TextDirection = 'ltr'): string[] {
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

/**
 * Right-to-left characters. Arabic digits run from left to right, although fonts treat them like
 * Arabic letters.
 */
const RTL = /[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\p{sc=Adlm}\u200f\u061c]/u
const ARABIC_DIGITS = /([\u0660-\u066c\u06f0-\u06f9]+)/
const MARKS = /\p{Cf}+/gu

function directionOf(line: string): TextDirection | null {
  const first = /[\p{L}\u200e\u200f\u061c]/u.exec(line)?.[0]
  if (first === undefined) return null
  return RTL.test(first) ? 'rtl' : 'ltr'
}

function isRtl(level: number): boolean {
  return level % 2 === 1
}

function toPieces(text: string, level: number): string[] {
  if (isRtl(level)) return [RTL.test(text) ? asOneWord(text) : reverseText(text)]
  return text
    .split(ARABIC_DIGITS)
    .filter((part) => part !== '')
    .map((part) => (ARABIC_DIGITS.test(part) ? reverseText(part) : part))
}

/**
 * Joins right-to-left words with no-break spaces: the PDF library lays out words from the left, so
 * they must look like one word.
 */
function asOneWord(text: string): string {
  return text.replaceAll(' ', '\u00a0')
}

function reverseText(text: string): string {
  return [...text].reverse().join('')
}
