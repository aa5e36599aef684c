import type { Billing, CatalogPrice, ProviderName, StripeSettings } from '@tollgate/billing'
import Stripe from 'stripe'
import type { Config } from '../config/config.ts'
import { isSoldAt, listAdditionalPrices, type PlanProvider } from '../config/plan-capabilities.ts'
import type { Plan, PriceTerms } from '../config/plans.ts'

/** A price of the settings, compared with the price at a provider. */
export interface ComparedPrice {
  readonly provider: PlanProvider
  /** Id of the price at the provider. */
  readonly id: string
  /** Name of the plan, or of the additional price. */
  readonly name: string
  readonly plan: Plan
  readonly terms: PriceTerms
  /** Length of the billing period in months. */
  readonly months: number
  /** How the price differs, such as `costs 500, not 900`. `null` if the provider has no such price. */
  readonly differences: readonly string[] | null
}

type WantedPrice = Omit<ComparedPrice, 'differences'>

/** Creates a client of Stripe's official SDK that does not repeat requests. */
export function createStripeClient({ secret, config }: StripeSettings): Stripe {
  return new Stripe(secret, { ...config, maxNetworkRetries: 0 })
}

/** Lists the prices that the plans of the settings need at a provider. */
export function listWantedPrices({ settings }: Config, provider: PlanProvider): WantedPrice[] {
  return settings.plans
    .filter((plan) => isSoldAt(plan, provider))
    .flatMap((plan) =>
      [plan, ...listAdditionalPrices(plan, provider)].flatMap((terms) => {
        const id = terms[provider]
        const { months } = plan
        return id === null ? [] : [{ provider, id, name: terms.name, plan, terms, months }]
      }),
    )
}

/** Compares the prices of the settings with those that Stripe has. */
export async function compareStripePrices(
  client: Stripe,
  config: Config,
): Promise<ComparedPrice[]> {
  const compared: ComparedPrice[] = []
  for (const wanted of listWantedPrices(config, 'stripe')) {
    const price = await findPrice(client, wanted.id)
    compared.push({ ...wanted, differences: price && findDifferences(price, wanted, config) })
  }
  return compared
}

/** Compares the plans of the settings with those that Braintree has. Add-ons are not compared. */
export function compareBraintreePlans(
  found: readonly CatalogPrice[],
  config: Config,
): ComparedPrice[] {
  const plans = listWantedPrices(config, 'braintree').filter(({ terms, plan }) => terms === plan)
  return plans.map((wanted) => {
    const there = found.find(({ id }) => id === wanted.id)
    if (!there) return { ...wanted, differences: null }
    const { amount, period } = there
    const months = period.unit === 'year' ? period.count * 12 : period.count
    const differences = [
      amount !== null &&
        amount.amount !== wanted.terms.amount &&
        `costs ${amount.amount}, not ${wanted.terms.amount}`,
      months !== wanted.months &&
        `is charged every ${describeMonths(months)}, not every ${describeMonths(wanted.months)}`,
    ]
    return { ...wanted, differences: differences.filter((text) => text !== false) }
  })
}

/** Reads all prices of a provider that can be subscribed to. */
export async function readCatalogPrices(
  { catalog }: Billing,
  provider: ProviderName,
): Promise<CatalogPrice[]> {
  const found: CatalogPrice[] = []
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<typeof catalog.prices>> = await catalog.prices({
      provider,
      ...(after !== null && { after }),
    })
    found.push(...page.entries)
    after = page.next
  } while (after !== null)
  return found
}

/** Compares a price with what the pages show. Prices by quantity and usage are not compared. */
function findDifferences(
  { unit_amount, currency, recurring, billing_scheme }: Stripe.Price,
  { terms, months }: WantedPrice,
  { settings }: Config,
): string[] {
  const { interval = 'month', interval_count: count = 1 } = recurring ?? {}
  const [unit, length] = interval === 'year' ? ['month', count * 12] : [interval, count]
  const isFlat = terms.rates === null
  const isFlatThere = billing_scheme === 'per_unit' && recurring?.usage_type !== 'metered'
  const differing = [
    recurring === null && 'is charged only once, so it cannot be subscribed to',
    isFlat && !isFlatThere && 'is charged by quantity or usage, not by an amount',
    !isFlat && isFlatThere && 'is charged by an amount, not by quantity or usage',
    isFlat &&
      isFlatThere &&
      unit_amount !== terms.amount &&
      `costs ${unit_amount}, not ${terms.amount}`,
    currency !== settings.currency && `is in ${currency}, not in ${settings.currency}`,
    `${length} ${unit}` !== `${months} month` &&
      `is charged every ${length} ${length === 1 ? unit : `${unit}s`}, not every ${describeMonths(months)}`,
  ]
  return differing.filter((text) => text !== false)
}

const describeMonths = (count: number) => `${count} ${count === 1 ? 'month' : 'months'}`

async function findPrice(client: Stripe, id: string): Promise<Stripe.Price | null> {
  try {
    return await client.prices.retrieve(id)
  } catch (error) {
    if (error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode === 404) {
      return null
    }
    throw error
  }
}

/**
 * Creates a price at Stripe, with the id of the settings. Returns `null` if it has been created, or
 * the reason why it cannot be. A price that exists stays as it is.
 */
export async function createStripePrice(
  client: Stripe,
  { id, name, plan, terms, months }: ComparedPrice,
  { settings }: Config,
): Promise<string | null> {
  if (id.startsWith('price_')) {
    return 'ids that begin with price_ are chosen by Stripe: use the id of a price there, or another id such as pro-monthly'
  }
  const meter = terms.meter === null ? null : await findMeter(client, terms.meter)
  if (terms.meter !== null && meter === null) {
    return `Stripe has no meter with the event name ${terms.meter}: create it first`
  }
  const product = terms === plan ? plan.plan : `${plan.plan}-${id}`
  await ignoreExisting(client.products.create({ id: product, name }))
  const interval = months === 12 ? 'year' : 'month'
  await ignoreExisting(
    client.plans.create({
      ...{ id, product, currency: settings.currency, interval },
      interval_count: months === 12 ? 1 : months,
      ...(meter !== null && { meter, usage_type: 'metered' as const }),
      ...costOf(terms),
    }),
  )
  return null
}

async function findMeter(client: Stripe, name: string): Promise<string | null> {
  for await (const { id, event_name } of client.billing.meters.list({ limit: 100 })) {
    if (event_name === name) return id
  }
  return null
}

/** Another process may have created the object since it was read. */
async function ignoreExisting(created: Promise<unknown>): Promise<void> {
  try {
    await created
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error
    if (error.code !== 'resource_already_exists') throw error
  }
}

/** The cost of a price in Stripe's terms. */
function costOf({ amount, rates }: PriceTerms): Partial<Stripe.PlanCreateParams> {
  if (rates === null) return { amount }
  if ('tiers' in rates) {
    return {
      billing_scheme: 'tiered',
      tiers_mode: rates.mode ?? 'graduated',
      tiers: rates.tiers.map(({ upTo, unitAmount, flatAmount }) => ({
        up_to: upTo ?? ('inf' as const),
        ...(unitAmount !== undefined && { unit_amount_decimal: decimal(unitAmount) }),
        ...(flatAmount !== undefined && { flat_amount_decimal: decimal(flatAmount) }),
      })),
    }
  }
  const { unitAmount, packageSize, included } = rates
  if (included) {
    return {
      billing_scheme: 'tiered',
      tiers_mode: 'graduated',
      tiers: [
        { up_to: included, unit_amount_decimal: decimal(0) },
        { up_to: 'inf', unit_amount_decimal: decimal(unitAmount) },
      ],
    }
  }
  return {
    amount_decimal: decimal(unitAmount),
    ...(packageSize && { transform_usage: { divide_by: packageSize, round: 'up' as const } }),
  }
}

/** The type of the SDK is a class, which the SDK itself only converts to text. */
function decimal(amount: number | string): Stripe.Decimal {
  return String(amount) as unknown as Stripe.Decimal
}
