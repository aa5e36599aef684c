import { describe, expect, it } from 'vitest'
import { findPageLocale } from './page-locale.ts'

describe('findPageLocale()', () => {
  it.each([
    ['de', 'de'],
    ['de-AT', 'de'],
    ['de_CH', 'de'],
    ['en-US', 'en'],
    ['en_GB', 'en-GB'],
    ['pt_BR', 'pt-BR'],
    ['pt-PT', 'pt'],
    ['fr-CA', 'fr-CA'],
    ['zh-Hant-TW', 'zh-TW'],
    ['zh_CN', 'zh'],
    ['no', 'nb'],
    ['ar', 'auto'],
    ['auto', 'auto'],
  ])('maps the locale %s to the locale %s of Stripe’s hosted pages', (wanted, spoken) => {
    expect(findPageLocale(wanted)).toBe(spoken)
  })
})
