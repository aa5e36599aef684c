import type Stripe from 'stripe'
import { filterRows, isInRange, listPage, type NumberFilter } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import {
  createMeterRequiredFault,
  createPrice,
  readAggregateUsageParam,
} from '../catalog/prices.ts'
import { createProduct } from '../catalog/products.ts'
import { renderPriceAsPlan } from '../state/render.ts'
import type { PriceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createMutuallyExclusiveFault,
  createNoSuchObjectFault,
} from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'

/** Operations on plans, the predecessors of recurring prices. Each plan is stored as a price. */
export const planOperations: StripeOperations = {
  'Plans.create': (params, { work, removedParams }) => {
    checkParams(work, params, removedParams)
    const { amount, amount_decimal, interval, transform_usage } = params
    const price = createPrice(work, {
      id: params.id ?? work.newId('plan_', 14),
      currency: params.currency,
      product: productOf(work, params.product),
      recurring: {
        interval,
        ...pickSentFields(params, 'interval_count', 'meter', 'trial_period_days', 'usage_type'),
      },
      ...pickSentFields(params, 'active', 'billing_scheme', 'nickname', 'tiers', 'tiers_mode'),
      ...(transform_usage === undefined ? {} : { transform_quantity: transform_usage }),
      ...(amount === undefined ? {} : { unit_amount: amount }),
      ...(amount_decimal === undefined ? {} : { unit_amount_decimal: amount_decimal }),
      metadata: mergeMetadata({}, params.metadata),
      ...readAggregateUsageParam(removedParams),
    })
    work.emitObject('plan.created', renderPriceAsPlan(price))
    return renderPriceAsPlan(price)
  },
  'Plans.retrieve': (_params, { work, id }) => renderPriceAsPlan(requirePlan(work, id)),

  'Plans.update': (params, { work, id }) => {
    const price = work.edit('price', requirePlan(work, id))
    Object.assign(price, pickSentFields(params, 'active', 'nickname'))
    if (params.product !== undefined) {
      price.product = work.require('product', params.product, 'product').id
    }
    if (params.trial_period_days !== undefined && price.recurring) {
      price.recurring = { ...price.recurring, trial_period_days: params.trial_period_days }
    }
    price.metadata = mergeMetadata(price.metadata, params.metadata)
    work.emitObject('plan.updated', renderPriceAsPlan(price))
    return renderPriceAsPlan(price)
  },

  'Plans.list': (params, { work, path }) => {
    const rows = filterRows(
      work.tables.price.newestFirst(),
      (row) =>
        isPlan(row) &&
        (params.active === undefined || row.active === params.active) &&
        (params.product === undefined || row.product === params.product) &&
        isInRange(row.created, params.created as NumberFilter | undefined),
    )
    return listPage(rows, params, path, renderPriceAsPlan)
  },

  'Plans.del': (_params, { work, id }) => {
    const price = work.edit('price', requirePlan(work, id))
    work.emitObject('plan.deleted', renderPriceAsPlan(price))
    work.emit('price.deleted', 'price', price)
    // The row stays for existing subscriptions, but is no longer found or listed.
    price.active = false
    price.$ = { ...price.$, deleted: true }
    return { id: price.id, object: 'plan', deleted: true }
  },
}

function isPlan(price: PriceRow): boolean {
  return price.recurring !== null && !price.$?.deleted
}

function requirePlan(work: UnitOfWork, id: string): PriceRow {
  const price = work.find('price', id)
  if (price && isPlan(price)) return price
  throw createNoSuchObjectFault('plan', id)
}

function checkParams(
  work: UnitOfWork,
  params: Stripe.PlanCreateParams,
  removedParams: Readonly<Record<string, string>>,
): void {
  if (params.id !== undefined && work.find('price', params.id)) {
    throw createInvalidRequestFault('Plan already exists.', 'id', 'resource_already_exists')
  }
  if (params.amount !== undefined && params.amount_decimal !== undefined) {
    throw createMutuallyExclusiveFault('amount, amount_decimal', 'amount')
  }
  if (
    params.usage_type === 'metered' &&
    params.meter === undefined &&
    !removedParams.aggregate_usage
  ) {
    throw createMeterRequiredFault()
  }
  if (params.billing_scheme === 'tiered') {
    if (params.amount === undefined && params.amount_decimal === undefined) return
    throw createInvalidRequestFault(
      'When `billing_scheme` is `tiered`, `amount` cannot be set: the tiers have amounts of their own.',
      'amount',
    )
  }
  if (params.amount === undefined && params.amount_decimal === undefined) {
    throw createInvalidRequestFault(
      'Plans require an `amount` or `amount_decimal` parameter to be set.',
      'amount',
      'parameter_missing',
    )
  }
}

function productOf(work: UnitOfWork, product: Stripe.PlanCreateParams['product']): string {
  if (product === undefined) throw createMissingParamFault('product')
  if (typeof product === 'string') return product
  const { tax_code: _code, tax_details: _details, ...made } = product
  const row = createProduct(work, made)
  work.emit('product.created', 'product', row)
  return row.id
}
