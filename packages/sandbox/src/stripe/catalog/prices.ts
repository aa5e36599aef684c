import type Stripe from 'stripe'
import { createBlankRow } from '../state/blank.ts'
import type { PriceRow, PriceTier } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createBelowOneFault,
  createInvalidRequestFault,
  createMissingParamFault,
} from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import { requireCurrency } from '../wire/money.ts'
import { readCurrencyOptions } from './currency-options.ts'
import { readTiers } from './tiers.ts'
import { readUnitAmount } from './unit-amount.ts'
import { AGGREGATIONS } from './usage.ts'

type NewPrice = Partial<Stripe.PriceCreateParams> & {
  id?: string
  currency: string
  product: string
  /** How usage records are aggregated, for a metered price without a meter. */
  aggregateUsage?: string
  /** Whether a negative amount is allowed. Set for inline prices of invoice items. */
  mayBeCredit?: boolean
}

const MAX_INTERVAL_COUNTS: Readonly<Record<string, number>> = {
  day: 1095,
  week: 156,
  month: 36,
  year: 3,
}

export function createPrice(work: UnitOfWork, params: NewPrice): PriceRow {
  const product = work.require('product', params.product, 'product')
  const currency = requireCurrency(params.currency)
  const tiered = params.billing_scheme === 'tiered'
  const terms = tiered ? readTieredTerms(params) : readUnitTerms(params)
  const options = params.currency_options
    ? readCurrencyOptions({ own: currency, tiered }, params.currency_options)
    : null
  const recurring = params.recurring
    ? readRecurring(work, params.recurring, params.aggregateUsage)
    : null
  if (params.lookup_key !== undefined) {
    claimLookupKey(work, params.lookup_key, params.transfer_lookup_key ?? false, null)
  }
  const own: PriceRow['$'] = {
    ...(options ? { currencyOptions: options } : {}),
    ...(terms.tiers ? { tiers: terms.tiers } : {}),
    ...pickSentFields(params, 'aggregateUsage'),
  }
  const price: PriceRow = {
    ...createBlankRow('price'),
    id: params.id ?? work.newId('price_1'),
    active: true,
    tax_behavior: 'unspecified',
    ...pickSentFields(params, 'active', 'lookup_key', 'nickname', 'tax_behavior'),
    billing_scheme: tiered ? 'tiered' : 'per_unit',
    created: work.sandboxNow,
    currency,
    metadata: mergeMetadata({}, params.metadata),
    product: product.id,
    recurring,
    tiers_mode: terms.tiersMode,
    transform_quantity: terms.transform,
    type: recurring ? 'recurring' : 'one_time',
    unit_amount: terms.cents,
    unit_amount_decimal: terms.decimal,
    ...(Object.keys(own).length > 0 ? { $: own } : {}),
  }
  return work.insert('price', price, 'price.created')
}

interface Terms {
  readonly cents: number | null
  readonly decimal: string | null
  readonly tiers: PriceTier[] | null
  readonly tiersMode: PriceRow['tiers_mode']
  readonly transform: PriceRow['transform_quantity']
}

function readUnitTerms(params: NewPrice): Terms {
  if (params.tiers !== undefined || params.tiers_mode !== undefined) {
    throw createInvalidRequestFault(
      '`tiers` and `tiers_mode` can only be set when `billing_scheme` is `tiered`.',
      params.tiers === undefined ? 'tiers_mode' : 'tiers',
    )
  }
  const transform = params.transform_quantity ?? null
  if (transform && transform.divide_by < 1)
    throw createBelowOneFault('transform_quantity[divide_by]')
  const { mayBeCredit = false } = params
  return {
    ...readUnitAmount(params, undefined, { mayBeCredit }),
    tiers: null,
    tiersMode: null,
    transform,
  }
}

function readTieredTerms(params: NewPrice): Terms {
  if (params.unit_amount !== undefined || params.unit_amount_decimal !== undefined) {
    throw createInvalidRequestFault(
      'When `billing_scheme` is `tiered`, `unit_amount` cannot be set: the tiers have amounts of their own.',
      params.unit_amount === undefined ? 'unit_amount_decimal' : 'unit_amount',
    )
  }
  if (params.transform_quantity !== undefined) {
    throw createInvalidRequestFault(
      '`transform_quantity` cannot be combined with `tiers`.',
      'transform_quantity',
    )
  }
  if (!params.recurring) {
    throw createInvalidRequestFault('Only recurring prices can have tiers.', 'billing_scheme')
  }
  if (params.tiers === undefined) throw createMissingParamFault('tiers')
  if (params.tiers_mode === undefined) throw createMissingParamFault('tiers_mode')
  return {
    cents: null,
    decimal: null,
    tiers: readTiers(params.tiers),
    tiersMode: params.tiers_mode,
    transform: null,
  }
}

function readRecurring(
  work: UnitOfWork,
  params: Stripe.PriceCreateParams.Recurring,
  aggregateUsage: string | undefined,
): NonNullable<PriceRow['recurring']> {
  const count = params.interval_count ?? 1
  if (count < 1 || count > (MAX_INTERVAL_COUNTS[params.interval] ?? 0)) {
    throw createInvalidRequestFault(
      'Prices have a maximum interval of three years (3 years, 36 months, or 156 weeks)',
      'recurring[interval_count]',
    )
  }
  const meter = aggregateUsage === undefined ? readMeter(work, params) : null
  if (aggregateUsage !== undefined) checkAggregation(aggregateUsage, params)
  return {
    interval: params.interval,
    interval_count: count,
    meter,
    trial_period_days: params.trial_period_days ?? null,
    usage_type: params.usage_type ?? 'licensed',
  }
}

/**
 * Reads the parameter `aggregate_usage`, which older API versions accept for metered prices without
 * a meter.
 */
export function readAggregateUsageParam(removedParams: Readonly<Record<string, string>>): {
  aggregateUsage?: string
} {
  return removedParams.aggregate_usage === undefined
    ? {}
    : { aggregateUsage: removedParams.aggregate_usage }
}

export function createMeterRequiredFault() {
  return createInvalidRequestFault(
    'Starting with Stripe version `2025-03-31.basil`, metered prices must be backed by meters.',
  )
}

function checkAggregation(
  requestedAggregation: string,
  params: Stripe.PriceCreateParams.Recurring,
): void {
  if (params.usage_type !== 'metered' || params.meter !== undefined) {
    throw createInvalidRequestFault(
      '`aggregate_usage` is only for metered prices without a meter.',
      'aggregate_usage',
    )
  }
  if (Object.hasOwn(AGGREGATIONS, requestedAggregation)) return
  throw createInvalidRequestFault(
    'Invalid aggregate_usage: must be one of last_during_period, last_ever, max, or sum',
    'aggregate_usage',
  )
}

function readMeter(work: UnitOfWork, params: Stripe.PriceCreateParams.Recurring): string | null {
  if (params.usage_type !== 'metered') {
    if (params.meter === undefined) return null
    throw createInvalidRequestFault(
      'You may only specify a meter when `recurring[usage_type]` is `metered`.',
      'recurring[meter]',
    )
  }
  if (params.meter === undefined) throw createMeterRequiredFault()
  const meter = work.require('billing.meter', params.meter, 'recurring[meter]')
  if (meter.status === 'active') return meter.id
  throw createInvalidRequestFault(
    `The meter \`${meter.id}\` is inactive. Only an active meter can be attached to a price.`,
    'recurring[meter]',
  )
}

export function claimLookupKey(
  work: UnitOfWork,
  key: string,
  transfer: boolean,
  self: string | null,
): void {
  for (const other of work.tables.price.values()) {
    if (other.lookup_key !== key || other.id === self) continue
    if (!transfer) {
      throw createInvalidRequestFault(
        `A price (\`${other.id}\`) already uses that lookup key.`,
        'lookup_key',
        'resource_already_exists',
      )
    }
    work.edit('price', other).lookup_key = null
  }
}
