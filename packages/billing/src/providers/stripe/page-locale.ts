import type Stripe from 'stripe'
import { findLocale } from '../../core/values/locale.ts'

/** Languages in which all of Stripe's hosted pages exist. */
const SPOKEN: ReadonlySet<string> = new Set([
  ...['bg', 'cs', 'da', 'de', 'el', 'en', 'en-GB', 'es', 'es-419', 'et', 'fi', 'fil', 'fr'],
  ...['fr-CA', 'hr', 'hu', 'id', 'it', 'ja', 'ko', 'lt', 'lv', 'ms', 'mt', 'nb', 'nl', 'pl', 'pt'],
  ...['pt-BR', 'ro', 'ru', 'sk', 'sl', 'sv', 'th', 'tr', 'vi', 'zh', 'zh-HK', 'zh-TW'],
])

type PageLocale = Stripe.Checkout.SessionCreateParams.Locale &
  Stripe.BillingPortal.SessionCreateParams.Locale

/**
 * Finds the closest locale that Stripe accepts (it rejects all others): `de` for `de-AT`. Falls
 * back to `auto`, the browser's language.
 */
export function findPageLocale(requestedLocale: string): PageLocale {
  const locale = findLocale(requestedLocale)
  if (locale === null) return 'auto'
  const { language, baseName } = new Intl.Locale(locale).minimize()
  const nearest = [locale, baseName, language === 'no' ? 'nb' : language]
  return nearest.find((each) => SPOKEN.has(each)) ?? 'auto'
}
