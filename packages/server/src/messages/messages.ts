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

/** The texts in the first of these languages that exists, else in English. */
export function textFor(languages: readonly string[]): PageText {
  return TEXTS.get(chooseLanguage(languages, [...TEXTS.keys()], 'en')) ?? ENGLISH
}

/** The languages of pages, by their own names. */
export const LANGUAGES = [
  { locale: 'en', name: 'English' },
  { locale: 'de', name: 'Deutsch' },
] as const

/** The texts for a request: first `ui_locales` of its address, then the account's language, then `Accept-Language`. */
export function textForRequest(request: Request, locale: string | null = null): PageText {
  const { searchParams } = new URL(request.url)
  const browser = readLanguages(request.headers.get('accept-language'))
  const account = locale === null ? [] : [locale]
  return textFor([...readLanguages(searchParams.get('ui_locales')), ...account, ...browser])
}

/** Formats an amount in the language of a page: `$30.00`, `30,00 $`. */
export function formatAmount(value: Money, { language }: PageText): string {
  return language === 'en' ? formatMoney(value) : formatMoney(value, language)
}
