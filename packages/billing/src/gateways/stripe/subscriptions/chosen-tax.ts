import type Stripe from 'stripe'
import type { TaxChoice } from '../../contract/subscription.ts'

/** What the application says of a subscription's tax now; nothing at all where it has no option for it. */
export interface SaidTax {
  /** Ids of the rate of its percentage; undefined where it goes by something else. */
  readonly percentage?: readonly string[] | undefined
  /** Whether Stripe works it out. */
  readonly automatic?: boolean | undefined
  /** Ids of rates by price. */
  readonly rates?: Readonly<Record<string, readonly string[]>> | undefined
}

/** How a subscription is taxed: by Stripe, by a rate of the whole, or by rates of each item. Never by two of them. */
export interface TaxTarget {
  readonly isAutomatic: boolean
  /** Ids of the rates of all items that have none of their own. */
  readonly whole: readonly string[]
  /** Ids of an item's own rates, by its price; undefined where they stay as they are. */
  ofItem(price: string): readonly string[] | undefined
}

const NONE: readonly string[] = []
const noRates = () => NONE

/** What was chosen for this one counts, or else what the application says of all. Where nobody says anything all of it stays. */
export function taxTarget(current: Stripe.Subscription, said: SaidTax): TaxTarget {
  const chosen = readChoice(current.metadata)
  if (chosen === 'automatic' || (chosen === null && said.automatic)) {
    return { isAutomatic: true, whole: NONE, ofItem: noRates }
  }
  const ofAll = { isAutomatic: false, whole: NONE }
  if (chosen === 'none') return { ...ofAll, ofItem: noRates }
  if (chosen !== null && typeof chosen !== 'string') return { ...ofAll, ofItem: () => chosen }
  if (chosen === null && said.rates) {
    const { rates } = said
    return { ...ofAll, ofItem: (price) => rates[price] }
  }
  const there = idsOf(current.default_tax_rates)
  if (chosen === null && said.percentage === undefined) {
    return {
      isAutomatic: current.automatic_tax.enabled,
      whole: there,
      ofItem: () => undefined,
    }
  }
  return { isAutomatic: false, whole: said.percentage ?? there, ofItem: noRates }
}

/** All that is different, as an update says it. */
export function taxParams(
  current: Stripe.Subscription,
  target: TaxTarget,
): Stripe.SubscriptionUpdateParams {
  const items = current.items.data.flatMap(({ id, price, tax_rates }) => {
    const own = target.ofItem(price.id)
    return own === undefined || haveIds(tax_rates, own) ? [] : [{ id, tax_rates: ratesParam(own) }]
  })
  return { ...taxOfWhole(current, target), ...(items.length > 0 ? { items } : {}) }
}

/** The same of the subscription itself, without its items. */
export function taxOfWhole(
  current: Stripe.Subscription,
  { isAutomatic, whole }: TaxTarget,
): Pick<Stripe.SubscriptionUpdateParams, 'default_tax_rates' | 'automatic_tax'> {
  return {
    ...(current.automatic_tax.enabled === isAutomatic
      ? {}
      : { automatic_tax: { enabled: isAutomatic } }),
    ...(haveIds(current.default_tax_rates, whole) ? {} : { default_tax_rates: ratesParam(whole) }),
  }
}

/** How rates are said: none at all is an empty text. */
export function ratesParam(rates: readonly string[]): string[] | '' {
  return rates.length > 0 ? [...rates] : ''
}

export function idsOf(rates: readonly Stripe.TaxRate[] | null | undefined): string[] {
  return (rates ?? []).map(({ id }) => id)
}

export function haveIds(
  rates: readonly Stripe.TaxRate[] | null | undefined,
  ids: readonly string[],
): boolean {
  const found = idsOf(rates)
  return found.length === ids.length && found.every((id) => ids.includes(id))
}

/** A choice is written into the subscription: it holds for as long as that runs, whatever the options say by then. */
export function choiceParams(chosen: TaxChoice | undefined): { taxed_by?: string } {
  if (chosen === undefined) return {}
  if (typeof chosen === 'string') return { taxed_by: chosen }
  return { taxed_by: chosen.length > 0 ? chosen.join(',') : 'none' }
}

/** The choice that was written; null for none. */
export function readChoice({ taxed_by: chosen }: Stripe.Metadata): TaxChoice | null {
  if (chosen === 'automatic' || chosen === 'percentage' || chosen === 'none') return chosen
  return chosen?.startsWith('txr_') ? chosen.split(',') : null
}
