import { describe, expect, it } from 'vitest'
import { InvalidArgument } from '../errors/errors.ts'
import { findLocale, requireLocale } from './locale.ts'

describe('the locale functions findLocale() and requireLocale()', () => {
  it.each([
    ['de', 'de'],
    ['de-AT', 'de-AT'],
    ['pt_BR', 'pt-BR'],
    ['en_US', 'en-US'],
    ['PT_br', 'pt-BR'],
    ['zh_Hant_TW', 'zh-Hant-TW'],
    ['pt_BR.UTF-8', 'pt-BR'],
    ['de_DE@euro', 'de-DE'],
    [' fr ', 'fr'],
    ['de-u-co-phonebk', 'de-u-co-phonebk'],
  ])('parse the text %j as the locale %j', (given, expected) => {
    expect(findLocale(given)).toBe(expected)
    expect(requireLocale('locale', given)).toBe(expected)
  })

  it.each(['', ' ', '_', 'C', 'auto', 'german (Germany)', 'de__AT', '.UTF-8', null, undefined, 7])(
    'reject %j as a locale',
    (given) => {
      expect(findLocale(given)).toBeNull()
      expect(() => requireLocale('locale', given)).toThrow(InvalidArgument)
    },
  )
})
