import { describe, expect, it } from 'vitest'

interface Finding {
  readonly line: number
  readonly problem: string
  readonly words: string
}

const { findInSource, findInGuide } = (await import('../check-words.mjs' as string)) as {
  findInSource(file: string, text: string): Finding[]
  findInGuide(text: string): Finding[]
}

const problemsOf = (found: readonly Finding[]) => found.map(({ line, problem }) => [line, problem])

describe('npm run check:words', () => {
  it('finds documentation that begins without a subject', () => {
    const text = `/** Of the row. */\nconst id = 1\n/** Offers a choice. */\nconst choice = 2\n`
    expect(problemsOf(findInSource('a.ts', text))).toEqual([[1, 'Of']])
  })

  it('finds vague words in every comment, and ignores code in backticks', () => {
    const text =
      '// Somebody else was faster.\nconst a = 1\n// The value `somebody` is kept.\nconst b = 2\n'
    expect(problemsOf(findInSource('a.ts', text))).toEqual([[1, 'Somebody']])
  })

  it('finds test titles that begin without a subject, with it() and with it.each()', () => {
    const text = `it('of another client is refused', run)\nit.each([1])('by code %s', run)\nit('refuses it', run)\n`
    expect(problemsOf(findInSource('a.ts', text))).toEqual([
      [1, 'of'],
      [2, 'by'],
    ])
  })

  it('reads the prose of guides, and not their code', () => {
    const text = 'Whoever pays gets in.\n\n```ts\n// nobody\n```\n\nThe customer pays `nobody`.\n'
    expect(problemsOf(findInGuide(text))).toEqual([[1, 'Whoever']])
  })
})
