import { formatMoney, type Money } from '@tollgate/billing'
import { chooseLanguage, readLanguages, type Translate, translate } from '@tollgate/http'
import { de } from './de.ts'
import { en } from './en.ts'

/** The texts of the pages in one language. */
export type PageText = Translate<typeof en>

/** English texts, for terminals and where no language is known. */
export const ENGLISH: PageText = translate<typeof en>(en, 'en', 'en-GB')

const TEXTS: ReadonlyMap<string, PageText> = new Map([
  ['en', ENGLISH],
  ['de', translate<typeof en>(de, 'de')],
])

/** Returns the texts in the first of the languages for which they exist, else in English. */
export function textFor(languages: readonly string[]): PageText {
  return TEXTS.get(chooseLanguage(languages, [...TEXTS.keys()], 'en')) ?? ENGLISH
}

/** The languages of the pages, each with its own name. */
export const LANGUAGES = [
  { locale: 'en', name: 'English' },
  { locale: 'de', name: 'Deutsch' },
] as const

/**
 * Returns the texts for a request. The language is chosen by `ui_locales` in the URL, then by the
 * account, then by `Accept-Language`.
 */
export function textForRequest(request: Request, locale: string | null = null): PageText {
  const { searchParams } = new URL(request.url)
  const browser = readLanguages(request.headers.get('accept-language'))
  const account = locale === null ? [] : [locale]
  return textFor([...readLanguages(searchParams.get('ui_locales')), ...account, ...browser])
}

/** Formats decimal text in the language of a page: `1,100.5`, `1.100,5`. */
export function formatDecimal(value: string, { language, locale }: PageText): string {
  const format = new Intl.NumberFormat(language === 'en' ? 'en-US' : locale, {
    maximumFractionDigits: 12,
  })
  return format.format(value as `${number}`)
}

/** Formats an amount in the language of a page: `$30.00`, `30,00 $`. */
export function formatAmount(value: Money, { language }: PageText): string {
  return language === 'en' ? formatMoney(value) : formatMoney(value, language)
}
