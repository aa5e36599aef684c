import type Stripe from 'stripe'
import { type BasisPoints, formatTaxPercentage } from '../../core/values/tax.ts'
import type { StripeContext } from '../../providers/stripe/client.ts'
import { once } from '../../providers/stripe/once.ts'
import type { TaxChoice } from '../../providers/subscription.ts'
import type { Swap } from '../swap/contract.ts'

/**
 * The tax that the application configures for a subscription. Empty if it has no option for tax.
 */
export interface ConfiguredTax {
  /** Ids of the rate of a percentage. `undefined` for another kind of tax. */
  readonly percentage?: readonly string[] | undefined
  /** Whether Stripe calculates the tax. */
  readonly automatic?: boolean | undefined
  /** Ids of tax rates by price. */
  readonly rates?: Readonly<Record<string, readonly string[]>> | undefined
}

/**
 * How a subscription is taxed: automatically, by rates for the whole subscription, or by rates for
 * each item. Never by two of them at once.
 */
export interface TaxTarget {
  readonly isAutomatic: boolean
  /** Ids of the rates for all items without rates of their own. */
  readonly whole: readonly string[]
  /** Returns the ids of an item's own rates, by its price. `undefined` if they stay unchanged. */
  ofItem(price: string): readonly string[] | undefined
}

const NONE: readonly string[] = []
const noRates = () => NONE

/**
 * Decides the tax: a choice for this subscription comes first, then the application's options. If
 * there is neither, everything stays.
 */
export function taxTarget(current: Stripe.Subscription, said: ConfiguredTax): TaxTarget {
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

/** Returns the differences as update parameters. */
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

/** Returns the differences of the subscription itself, without its items. */
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

/** Formats tax rates for a request: Stripe expects an empty text for none. */
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

/**
 * Formats a choice of tax for the subscription's metadata, where it stays in force even if the
 * options change.
 */
export function choiceParams(chosen: TaxChoice | undefined): { taxed_by?: string } {
  if (chosen === undefined) return {}
  if (typeof chosen === 'string') return { taxed_by: chosen }
  return { taxed_by: chosen.length > 0 ? chosen.join(',') : 'none' }
}

/** Reads the choice of tax from the metadata. `null` if there is none. */
export function readChoice({ taxed_by: chosen }: Stripe.Metadata): TaxChoice | null {
  if (chosen === 'automatic' || chosen === 'percentage' || chosen === 'none') return chosen
  return chosen?.startsWith('txr_') ? chosen.split(',') : null
}

/** Converts the tax of a swap, immediate or planned. */
export function configuredTax(
  context: StripeContext,
): (
  swap: Pick<Swap, 'plan' | 'tax' | 'keepsTax' | 'automaticTax' | 'taxRates' | 'itemRates'>,
) => Promise<ConfiguredTax> {
  const findTaxRates = taxRates(context)
  return async ({ plan, tax, keepsTax, automaticTax, taxRates: ofPlan, itemRates }) => {
    if (automaticTax) return { automatic: true }
    if (ofPlan) return { rates: { ...itemRates, [plan]: ofPlan } }
    return keepsTax ? {} : { percentage: await findTaxRates(tax) }
  }
}

/**
 * Finds or creates the tax rate of a percentage. The percentage of a rate cannot change, so each
 * percentage has its own rate, created when first needed.
 */
export function taxRates({ stripe }: StripeContext): (tax: BasisPoints) => Promise<string[]> {
  const known = new Map<BasisPoints, string>()

  async function find(tax: BasisPoints): Promise<string> {
    const percentage = Number(formatTaxPercentage(tax))
    const listed = await findListed(percentage)
    if (listed) return listed.id
    const made = await once(
      `tollgate:tax:${tax}`,
      (request) =>
        stripe.taxRates.create(
          { display_name: 'Tax', percentage, inclusive: false, metadata: { tollgate: 'tax' } },
          request,
        ),
      () => findListed(percentage),
    )
    return made.id
  }

  async function findListed(percentage: number): Promise<Stripe.TaxRate | null> {
    for await (const rate of stripe.taxRates.list({ active: true, limit: 100 })) {
      const ours = rate.metadata?.tollgate === 'tax' && !rate.inclusive
      if (ours && rate.percentage === percentage) return rate
    }
    return null
  }

  return async (tax) => {
    if (tax === 0) return []
    const id = known.get(tax) ?? (await find(tax))
    known.set(tax, id)
    return [id]
  }
}
