import { type MeteredPrice, money, toDecimal, type UsageTier } from '@tollgate/billing'
import type { AdditionalPrice, PriceTerms } from '../../../config/plans.ts'
import type { Settings } from '../../../config/settings.ts'
import { ENGLISH, formatAmount, type PageText } from '../../../messages/messages.ts'

// Sentences about prices that depend on a quantity or on usage.

type Currency = Pick<Settings, 'currency'>

/** Describes the tiers of a price, one line each: `1–10: $5.00 each`. Empty without tiers. */
export function describeTiers(
  rates: MeteredPrice,
  { currency }: Currency,
  t: PageText = ENGLISH,
): string[] {
  if (!('tiers' in rates)) return []
  const { tiers, mode } = rates
  const lines = tiers.map((tier, at) => {
    const from = (tiers[at - 1]?.upTo ?? 0) + 1
    return t('rates.tier', {
      range: describeRange(from, tier.upTo, t),
      price: describeTier(tier, currency, t),
    })
  })
  return mode === 'volume' && lines.length > 1 ? [...lines, t('rates.volume')] : lines
}

function describeRange(from: number, upTo: number | null, t: PageText): string {
  const count = (value: number) => value.toLocaleString(t.locale)
  if (upTo === null) return t('rates.from', { from: count(from) })
  return from === upTo ? count(from) : t('rates.range', { from: count(from), to: count(upTo) })
}

function describeTier(
  { unitAmount, flatAmount }: UsageTier,
  currency: string,
  t: PageText,
): string {
  const each =
    unitAmount === undefined
      ? null
      : t('rates.each', { amount: formatRate(unitAmount, currency, t) })
  const flat =
    flatAmount === undefined
      ? null
      : t('rates.flat', { amount: formatRate(flatAmount, currency, t) })
  if (each !== null && flat !== null) return t('rates.both', { unitPrice: each, flatFee: flat })
  return each ?? flat ?? ''
}

/** Describes a price per unit of usage: `$0.005 per call used, the first 1,000 are free`. */
export function describeUsage(
  { rates, unit }: Pick<PriceTerms, 'rates' | 'unit'>,
  { currency }: Currency,
  t: PageText = ENGLISH,
): string[] {
  if (rates === null || 'tiers' in rates) return []
  const { unitAmount, packageSize = 1, included = 0 } = rates
  const name = unit ?? t('rates.unit')
  const amount = formatRate(unitAmount, currency, t)
  const size = packageSize.toLocaleString(t.locale)
  const price =
    packageSize === 1
      ? t('rates.usage', { amount, unit: name })
      : t('rates.package', { amount, size, unit: name })
  const free = included.toLocaleString(t.locale)
  return [included === 0 ? price : t('rates.included', { price, included: free })]
}

/** Describes a price that is charged in addition: `plus $0.005 per call used`. */
export function describeAdditional(
  price: AdditionalPrice,
  settings: Currency,
  t: PageText = ENGLISH,
): string[] {
  const { rates, amount, name } = price
  if (rates === null) {
    return [
      t('rates.plusNamed', { price: formatAmount(money(amount, settings.currency), t), name }),
    ]
  }
  const [usage] = describeUsage(price, settings, t)
  if (usage !== undefined) return [t('rates.plus', { price: usage })]
  return describeTiers(rates, settings, t).map((line, at) =>
    at === 0 ? t('rates.plusTiers', { name, tier: line }) : line,
  )
}

/** Formats an amount in the smallest unit, which may have decimals: `$0.005`. */
function formatRate(amount: number | string, currency: string, t: PageText): string {
  if (Number.isInteger(Number(amount))) return formatAmount(money(Number(amount), currency), t)
  const [, decimals = ''] = toDecimal(money(1, currency)).split('.')
  const format = new Intl.NumberFormat(t.language === 'en' ? 'en-US' : t.locale, {
    style: 'currency',
    currency,
    maximumFractionDigits: 14,
  })
  return format.format(Number(amount) / 10 ** decimals.length)
}
