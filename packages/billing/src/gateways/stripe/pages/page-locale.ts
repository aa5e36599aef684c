import type Stripe from 'stripe'
import { findLocale } from '../../../values/locale.ts'

/** In which languages Stripe has all of its pages. */
const SPOKEN: ReadonlySet<string> = new Set([
  ...['bg', 'cs', 'da', 'de', 'el', 'en', 'en-GB', 'es', 'es-419', 'et', 'fi', 'fil', 'fr'],
  ...['fr-CA', 'hr', 'hu', 'id', 'it', 'ja', 'ko', 'lt', 'lv', 'ms', 'mt', 'nb', 'nl', 'pl', 'pt'],
  ...['pt-BR', 'ro', 'ru', 'sk', 'sl', 'sv', 'th', 'tr', 'vi', 'zh', 'zh-HK', 'zh-TW'],
])

type PageLocale = Stripe.Checkout.SessionCreateParams.Locale &
  Stripe.BillingPortal.SessionCreateParams.Locale

/** The nearest that Stripe has, which refuses every other: `de` for `de-AT`, and the browser's own for `ar`. */
export function pageLocale(wanted: string): PageLocale {
  const locale = findLocale(wanted)
  if (locale === null) return 'auto'
  const { language, baseName } = new Intl.Locale(locale).minimize()
  const nearest = [locale, baseName, language === 'no' ? 'nb' : language]
  return nearest.find((each) => SPOKEN.has(each)) ?? 'auto'
}
