import { createMeterRequiredFault, createPrice } from '../catalog/prices.ts'
import {
  type DiscountParam,
  type PurchasedItem,
  redeemDiscounts,
} from '../catalog/redeem-discounts.ts'
import { requireTaxRates } from '../catalog/tax-rates.ts'
import { isMeteredPriceRow } from '../catalog/tiers.ts'
import { hasNoMeter } from '../catalog/usage.ts'
import type { CustomerRow, PriceRow, SubscriptionItemRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createMutuallyExclusiveFault,
  createNegativeNumberFault,
} from '../wire/errors.ts'
import { mergeMetadata } from '../wire/fields.ts'

/** Parameters of a subscription item, as in every call that takes items. */
export interface SubscriptionItemParams {
  readonly id?: string
  readonly deleted?: boolean
  readonly clear_usage?: boolean
  readonly price?: string
  readonly plan?: string
  readonly price_data?: unknown
  readonly quantity?: number
  readonly metadata?: '' | null | Readonly<Record<string, string | number | null>>
  readonly tax_rates?: '' | null | readonly string[]
  readonly discounts?: '' | null | readonly DiscountParam[]
}

/**
 * Returns the recurring price of a subscription item: an existing one, or one created from
 * `price_data`.
 */
export function requireItemPrice(
  work: UnitOfWork,
  params: SubscriptionItemParams,
  path: string,
): PriceRow {
  const price = findItemPrice(work, params, path)
  if (!price) throw createMissingParamFault(`${path}[price]`)
  return price
}

export function findItemPrice(
  work: UnitOfWork,
  params: SubscriptionItemParams,
  path: string,
): PriceRow | null {
  const given = [params.price, params.plan, params.price_data].filter(
    (value) => value !== undefined,
  )
  if (given.length > 1) throw createMutuallyExclusiveFault('price, plan, price_data', path)
  if (params.price_data !== undefined) {
    return createPrice(work, params.price_data as Parameters<typeof createPrice>[1])
  }
  const id = params.price ?? params.plan
  if (id === undefined) return null
  const param = `${path}[${params.price === undefined ? 'plan' : 'price'}]`
  const price = work.require('price', id, param)
  if (!price.recurring) {
    throw createInvalidRequestFault(
      `The price specified is set to \`type=one_time\` but this field only accepts prices with \`type=recurring\`.`,
      param,
    )
  }
  return price
}

/** Checks that a price and its product are active. For scheduled changes, this is not checked. */
export function checkActive(work: UnitOfWork, price: PriceRow, path: string): void {
  if (work.cause === 'time') return
  if (!price.active) {
    throw createInvalidRequestFault(
      `The price specified is inactive. This field only accepts active prices.`,
      `${path}[price]`,
    )
  }
  if (hasNoMeter(price) && !work.supportsLegacyFeature('usage-records'))
    throw createMeterRequiredFault()
  if (work.find('product', price.product)?.active === false) {
    throw createInvalidRequestFault(
      `The price specified belongs to a product that is not active.`,
      `${path}[price]`,
    )
  }
}

export function checkQuantity(quantity: number | undefined, path: string, price: PriceRow): void {
  if (quantity !== undefined && isMeteredPriceRow(price)) {
    throw createInvalidRequestFault(
      `Quantity should not be specified where usage_type is \`metered\`. Remove quantity from \`${path}\`.`,
      `${path}[quantity]`,
    )
  }
  if (quantity !== undefined && (quantity < 0 || quantity > 1_000_000)) {
    throw createNegativeNumberFault(`${path}[quantity]`)
  }
}

export function createSubscriptionItem(
  work: UnitOfWork,
  owner: { subscription: string; customer: CustomerRow; currency: string },
  price: PriceRow,
  params: SubscriptionItemParams,
  period: { start: number; end: number },
  path: string,
): SubscriptionItemRow {
  checkQuantity(params.quantity, path, price)
  const id = work.newId('si_', 14)
  const metered = isMeteredPriceRow(price)
  return work.insert('subscription_item', {
    id,
    object: 'subscription_item',
    billing_thresholds: null,
    created: work.now,
    current_period_end: period.end,
    current_period_start: period.start,
    current_trial: null,
    discounts: redeemDiscounts(work, params.discounts ?? null, {
      customer: owner.customer,
      subscriptionItem: id,
      currency: owner.currency,
      bought: [{ price: price.id, quantity: params.quantity ?? 1 }],
    }),
    metadata: mergeMetadata({}, params.metadata),
    price: price.id,
    ...(metered ? {} : { quantity: params.quantity ?? 1 }),
    subscription: owner.subscription,
    tax_rates: requireTaxRates(work, params.tax_rates ?? null, `${path}[tax_rates]`),
    $: { billed: null, ...(metered ? { usageFrom: work.now } : {}) },
    plan: undefined,
  })
}

/** Returns the prices and quantities that a subscription would have after a change of its items. */
export function listItemsAfterChange(
  work: UnitOfWork,
  subscription: string,
  changes: readonly SubscriptionItemParams[],
): PurchasedItem[] {
  const kept = work.findBy('subscription_item', 'subscription', subscription).flatMap((item) => {
    const change = changes.find(({ id }) => id === item.id)
    const { price = item.price, quantity = item.quantity ?? 1 } = change ?? {}
    return change?.deleted ? [] : [{ price, quantity }]
  })
  const added = changes.flatMap(({ id, price, quantity = 1 }) =>
    id === undefined && price !== undefined ? [{ price, quantity }] : [],
  )
  // Unknown prices are rejected when their item is added.
  return [...kept, ...added].filter(({ price }) => work.find('price', price))
}

export function checkDuplicates(prices: readonly string[]): void {
  const seen = new Set<string>()
  for (const price of prices) {
    if (seen.has(price)) {
      throw createInvalidRequestFault(
        `Cannot add multiple subscription items with the same plan: \`${price}\`.`,
        'items',
      )
    }
    seen.add(price)
  }
}
