import type Stripe from 'stripe'
import { type BasisPoints, formatTaxPercentage } from '../../core/values/tax.ts'
import type { StripeContext } from '../../providers/stripe/client.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import type { TaxChoice } from '../../providers/subscription.ts'
import type { SwapRequest } from '../swap/contract.ts'

/**
 * The tax that the application's options configure for a subscription. Empty if the options
 * configure no tax.
 */
export interface ConfiguredTax {
  /**
   * Id of the Stripe tax rate for a configured percentage, as a list. `undefined` if another kind
   * of tax is configured.
   */
  readonly percentage?: readonly string[] | undefined
  /** Whether Stripe calculates the tax. */
  readonly automatic?: boolean | undefined
  /** Ids of the configured Stripe tax rates, by price id. */
  readonly rates?: Readonly<Record<string, readonly string[]>> | undefined
}

/**
 * How a Stripe subscription is taxed: automatically, by tax rates for the whole subscription, or by
 * tax rates for each item, and never in two ways at once.
 */
export interface ResolvedSubscriptionTax {
  readonly isAutomatic: boolean
  /**
   * Ids of the tax rates that apply to the whole subscription, except for items with tax rates of
   * their own.
   */
  readonly whole: readonly string[]
  /**
   * Returns the ids of the tax rates for the item with this price. `undefined` if the item's tax
   * rates stay unchanged.
   */
  ofItem(price: string): readonly string[] | undefined
}

const NONE: readonly string[] = []
const noRates = () => NONE

/**
 * Resolves how a subscription is taxed: by the tax that was chosen for it, otherwise as the
 * application configures. If there is neither, the present tax stays.
 */
export function resolveSubscriptionTax(
  current: Stripe.Subscription,
  configured: ConfiguredTax,
): ResolvedSubscriptionTax {
  const chosen = readTaxChoice(current.metadata)
  if (chosen === 'automatic' || (chosen === null && configured.automatic)) {
    return { isAutomatic: true, whole: NONE, ofItem: noRates }
  }
  const ofAll = { isAutomatic: false, whole: NONE }
  if (chosen === 'none') return { ...ofAll, ofItem: noRates }
  if (chosen !== null && typeof chosen !== 'string') return { ...ofAll, ofItem: () => chosen }
  if (chosen === null && configured.rates) {
    const { rates } = configured
    return { ...ofAll, ofItem: (price) => rates[price] }
  }
  const there = listTaxRateIds(current.default_tax_rates)
  if (chosen === null && configured.percentage === undefined) {
    return {
      isAutomatic: current.automatic_tax.enabled,
      whole: there,
      ofItem: () => undefined,
    }
  }
  return { isAutomatic: false, whole: configured.percentage ?? there, ofItem: noRates }
}

/** Returns the parameters that change the subscription's present tax to the resolved tax. */
export function buildTaxUpdateParams(
  current: Stripe.Subscription,
  target: ResolvedSubscriptionTax,
): Stripe.SubscriptionUpdateParams {
  const items = current.items.data.flatMap(({ id, price, tax_rates }) => {
    const own = target.ofItem(price.id)
    return own === undefined || haveTaxRateIds(tax_rates, own)
      ? []
      : [{ id, tax_rates: buildTaxRatesParam(own) }]
  })
  return { ...buildSubscriptionTaxParams(current, target), ...(items.length > 0 ? { items } : {}) }
}

/**
 * Returns the parameters that update the tax of the subscription itself, without the tax rates of
 * its items.
 */
export function buildSubscriptionTaxParams(
  current: Stripe.Subscription,
  { isAutomatic, whole }: ResolvedSubscriptionTax,
): Pick<Stripe.SubscriptionUpdateParams, 'default_tax_rates' | 'automatic_tax'> {
  return {
    ...(current.automatic_tax.enabled === isAutomatic
      ? {}
      : { automatic_tax: { enabled: isAutomatic } }),
    ...(haveTaxRateIds(current.default_tax_rates, whole)
      ? {}
      : { default_tax_rates: buildTaxRatesParam(whole) }),
  }
}

/** Formats tax rate ids for a request. Stripe expects an empty string in place of an empty list. */
export function buildTaxRatesParam(rates: readonly string[]): string[] | '' {
  return rates.length > 0 ? [...rates] : ''
}

export function listTaxRateIds(rates: readonly Stripe.TaxRate[] | null | undefined): string[] {
  return (rates ?? []).map(({ id }) => id)
}

export function haveTaxRateIds(
  rates: readonly Stripe.TaxRate[] | null | undefined,
  ids: readonly string[],
): boolean {
  const found = listTaxRateIds(rates)
  return found.length === ids.length && found.every((id) => ids.includes(id))
}

/**
 * Returns the metadata that stores a tax chosen for one subscription, so that it stays in force
 * even if the application's options change.
 */
export function buildTaxChoiceMetadata(chosen: TaxChoice | undefined): { taxed_by?: string } {
  if (chosen === undefined) return {}
  if (typeof chosen === 'string') return { taxed_by: chosen }
  return { taxed_by: chosen.length > 0 ? chosen.join(',') : 'none' }
}

/**
 * Reads the tax that was chosen for a subscription from its metadata. `null` if none was chosen.
 */
export function readTaxChoice({ taxed_by: chosen }: Stripe.Metadata): TaxChoice | null {
  if (chosen === 'automatic' || chosen === 'percentage' || chosen === 'none') return chosen
  return chosen?.startsWith('txr_') ? chosen.split(',') : null
}

/**
 * Returns a function that reads the configured tax from the terms of a swap, and finds or creates
 * the Stripe tax rates it needs.
 */
export function createConfiguredTaxReader(
  context: StripeContext,
): (
  swap: Pick<SwapRequest, 'price' | 'tax' | 'keepsTax' | 'automaticTax' | 'taxRates' | 'itemRates'>,
) => Promise<ConfiguredTax> {
  const findTaxRates = createTaxRateFinder(context)
  return async ({ price, tax, keepsTax, automaticTax, taxRates, itemRates }) => {
    if (automaticTax) return { automatic: true }
    if (taxRates) return { rates: { ...itemRates, [price]: taxRates } }
    return keepsTax ? {} : { percentage: await findTaxRates(tax) }
  }
}

/**
 * Returns a function that finds or creates the Stripe tax rate for a percentage, and returns its id
 * in a list. Each percentage has its own tax rate, because Stripe does not allow changing the
 * percentage of a tax rate.
 */
export function createTaxRateFinder({
  stripe,
}: StripeContext): (tax: BasisPoints) => Promise<string[]> {
  const known = new Map<BasisPoints, string>()

  async function find(tax: BasisPoints): Promise<string> {
    const percentage = Number(formatTaxPercentage(tax))
    const listed = await findListed(percentage)
    if (listed) return listed.id
    const made = await createIdempotently(
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
