import type Stripe from 'stripe'
import type { PriceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { requireCurrency } from '../wire/money.ts'
import { nulls } from '../wire/wire.ts'
import { readCurrencyOptions } from './currency-options.ts'
import { readUnitAmount } from './unit-amount.ts'

type NewPrice = Partial<Stripe.PriceCreateParams> & {
  id?: string
  currency: string
  product: string
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
  const { cents, decimal } = readUnitAmount(params)
  const options = params.currency_options
    ? readCurrencyOptions(currency, params.currency_options)
    : null
  const recurring = params.recurring ? readRecurring(params.recurring) : null
  if (params.lookup_key !== undefined) {
    claimLookupKey(work, params.lookup_key, params.transfer_lookup_key ?? false, null)
  }
  const price: PriceRow = {
    ...nulls<Stripe.Price>('price'),
    id: params.id ?? work.newId('price_1'),
    object: 'price',
    active: params.active ?? true,
    billing_scheme: 'per_unit',
    created: work.now,
    currency,
    livemode: false,
    lookup_key: params.lookup_key ?? null,
    metadata: mergeMetadata({}, params.metadata),
    nickname: params.nickname ?? null,
    product: product.id,
    recurring,
    tax_behavior: params.tax_behavior ?? 'unspecified',
    type: recurring ? 'recurring' : 'one_time',
    unit_amount: cents,
    unit_amount_decimal: decimal,
    ...(options ? { $: { currencyOptions: options } } : {}),
  }
  return work.insert('price', price, 'price.created')
}

function readRecurring(
  params: Stripe.PriceCreateParams.Recurring,
): NonNullable<PriceRow['recurring']> {
  const count = params.interval_count ?? 1
  if (count < 1 || count > (MAX_INTERVAL_COUNTS[params.interval] ?? 0)) {
    throw invalidRequest(
      'Prices have a maximum interval of three years (3 years, 36 months, or 156 weeks)',
      'recurring[interval_count]',
    )
  }
  if (params.usage_type === 'metered') {
    throw invalidRequest(
      'The sandbox has no meters, so a price cannot be metered.',
      'recurring[usage_type]',
    )
  }
  return {
    interval: params.interval,
    interval_count: count,
    meter: null,
    trial_period_days: params.trial_period_days ?? null,
    usage_type: 'licensed',
  }
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
      throw invalidRequest(
        `A price (\`${other.id}\`) already uses that lookup key.`,
        'lookup_key',
        'resource_already_exists',
      )
    }
    work.edit('price', other).lookup_key = null
  }
}
