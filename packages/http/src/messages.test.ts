import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  chooseLanguage,
  formatMessage,
  isRightToLeft,
  type PlaceholderNames,
  readLanguages,
  translate,
} from './messages.ts'

const messages = {
  hello: 'Hello {name}.',
  left: '{days, plural, =0 {nothing is left} one {# day left} other {{name} has # days left}}',
  plain: 'Nothing to fill in',
} as const

describe('translate()', () => {
  it('inserts values into a message', () => {
    expect(translate<typeof messages>(messages, 'en')('hello', { name: 'Ada' })).toBe('Hello Ada.')
  })

  it('chooses the plural form by the rules of the locale', () => {
    const t = translate<typeof messages>(messages, 'en')
    const left = (days: number) => t('left', { days, name: 'Ada' })
    expect([0, 1, 2, 1200].map(left)).toEqual([
      'nothing is left',
      '1 day left',
      'Ada has 2 days left',
      'Ada has 1,200 days left',
    ])
  })

  it('chooses among the four plural forms of Polish', () => {
    const text = '{n, plural, one {# dzień} few {# dni} many {# dni!} other {# dnia}}'
    const inPolish = (n: number) => formatMessage(text, { n }, 'pl').join('')
    expect([1, 3, 5, 1.5].map(inPolish)).toEqual(['1 dzień', '3 dni', '5 dni!', '1,5 dnia'])
  })

  it('returns a message in parts, in which inserted values keep their type', () => {
    const mark = { bold: 'Ada' }
    expect(translate<typeof messages>(messages, 'en').parts('hello', { name: mark })).toEqual([
      'Hello ',
      mark,
      '.',
    ])
  })

  it('does not interpret braces in values, and leaves a name without a value unchanged', () => {
    expect(formatMessage('{a} {b} {', { a: '{b}' }, 'en').join('')).toBe('{b} {b} {')
  })

  it('checks at compile time that a value is passed for each name in the message', () => {
    expectTypeOf<PlaceholderNames<(typeof messages)['left']>>().toEqualTypeOf<'days' | 'name'>()
    expectTypeOf<PlaceholderNames<(typeof messages)['plain']>>().toEqualTypeOf<never>()
  })
})

describe('readLanguages(), which reads the Accept-Language header,', () => {
  it.each([
    ['de', ['de']],
    ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', ['fr-CH', 'fr', 'en', 'de']],
    ['en;q=0.1,de', ['de', 'en']],
    ['de;q=0, en', ['en']],
    ['en ; q=0.5, de', ['de', 'en']],
    ['de-AT fr', ['de-AT', 'fr']],
    ['', []],
    [null, []],
    ['<script>, de;q=x, ../etc, en', ['en']],
    ['de;q=9', []],
    [',;,;q=1,,', []],
    ['de,'.repeat(1000), []],
  ])('parses %j', (text, expected) => {
    expect(readLanguages(text)).toEqual(expected)
  })
})

describe('chooseLanguage()', () => {
  it.each([
    [['de'], 'de'],
    [['de-AT'], 'de'],
    [['DE-at'], 'de'],
    [['pt-PT', 'pt-BR'], 'pt-BR'],
    [['fr', 'de'], 'de'],
    [['xx'], 'en'],
    [[], 'en'],
  ])('maps the requested languages %j to the language %s', (wanted, expected) => {
    expect(chooseLanguage(wanted, ['en', 'de', 'pt-BR'], 'en')).toBe(expected)
  })
})

it('isRightToLeft() returns true only for locales whose script runs from right to left', () => {
  expect(['ar', 'he', 'de', 'az-Arab'].map(isRightToLeft)).toEqual([true, true, false, true])
})
