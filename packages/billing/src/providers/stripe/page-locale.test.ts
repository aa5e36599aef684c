import { describe, expect, it } from 'vitest'
import { pageLocale } from './page-locale.ts'

describe('pageLocale()', () => {
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
    expect(pageLocale(wanted)).toBe(spoken)
  })
})
