import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { backedByMeters, createPrice, legacyUsage } from '../catalog/prices.ts'
import { createProduct } from '../catalog/products.ts'
import { toPlan } from '../state/render.ts'
import type { PriceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam, noSuch } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'

/** Plans are how recurring prices were called before: each is a price seen through an older window. */
export const plans: Operations = {
  'Plans.create': op<Stripe.PlanCreateParams>((params, { work, gone }) => {
    checkParams(work, params, gone)
    const { amount, amount_decimal, interval, interval_count, trial_period_days } = params
    const { billing_scheme, meter, tiers, tiers_mode, transform_usage, usage_type } = params
    const price = createPrice(work, {
      id: params.id ?? work.newId('plan_', 14),
      currency: params.currency,
      product: productOf(work, params.product),
      recurring: {
        interval,
        ...(interval_count === undefined ? {} : { interval_count }),
        ...(meter === undefined ? {} : { meter }),
        ...(trial_period_days === undefined ? {} : { trial_period_days }),
        ...(usage_type === undefined ? {} : { usage_type }),
      },
      ...(billing_scheme === undefined ? {} : { billing_scheme }),
      ...(tiers === undefined ? {} : { tiers }),
      ...(tiers_mode === undefined ? {} : { tiers_mode }),
      ...(transform_usage === undefined ? {} : { transform_quantity: transform_usage }),
      ...(params.active === undefined ? {} : { active: params.active }),
      ...(params.nickname === undefined ? {} : { nickname: params.nickname }),
      ...(amount === undefined ? {} : { unit_amount: amount }),
      ...(amount_decimal === undefined ? {} : { unit_amount_decimal: amount_decimal }),
      metadata: mergeMetadata({}, params.metadata),
      ...legacyUsage(gone),
    })
    work.emitObject('plan.created', toPlan(price))
    return toPlan(price)
  }),

  'Plans.retrieve': op((_params, call) => toPlan(requirePlan(call.work, idOf(call)))),

  'Plans.update': op<Stripe.PlanUpdateParams>((params, call) => {
    const { work } = call
    const price = work.edit('price', requirePlan(work, idOf(call)))
    if (params.active !== undefined) price.active = params.active
    if (params.nickname !== undefined) price.nickname = params.nickname
    if (params.product !== undefined) {
      price.product = work.require('product', params.product, 'product').id
    }
    if (params.trial_period_days !== undefined && price.recurring) {
      price.recurring = { ...price.recurring, trial_period_days: params.trial_period_days }
    }
    price.metadata = mergeMetadata(price.metadata, params.metadata)
    work.emitObject('plan.updated', toPlan(price))
    return toPlan(price)
  }),

  'Plans.list': op<Stripe.PlanListParams>((params, { work, path }) => {
    const rows = filterRows(
      work.tables.price.newestFirst(),
      (row) =>
        isPlan(row) &&
        (params.active === undefined || row.active === params.active) &&
        (params.product === undefined || row.product === params.product) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, toPlan)
  }),

  'Plans.del': op((_params, call) => {
    const { work } = call
    const price = work.edit('price', requirePlan(work, idOf(call)))
    work.emitObject('plan.deleted', toPlan(price))
    work.emit('price.deleted', 'price', price)
    // Those who have it keep it, so the row stays; nobody else finds or gets it.
    price.active = false
    price.$ = { ...price.$, deleted: true }
    return { id: price.id, object: 'plan', deleted: true }
  }),
}

function isPlan(price: PriceRow): boolean {
  return price.recurring !== null && !price.$?.deleted
}

function requirePlan(work: UnitOfWork, id: string): PriceRow {
  const price = work.find('price', id)
  if (price && isPlan(price)) return price
  throw noSuch('plan', id)
}

function checkParams(
  work: UnitOfWork,
  params: Stripe.PlanCreateParams,
  gone: Readonly<Record<string, string>>,
): void {
  if (params.id !== undefined && work.find('price', params.id)) {
    throw invalidRequest('Plan already exists.', 'id', 'resource_already_exists')
  }
  if (params.amount !== undefined && params.amount_decimal !== undefined) {
    throw invalidRequest(
      'You may only specify one of these parameters: amount, amount_decimal.',
      'amount',
    )
  }
  if (params.usage_type === 'metered' && params.meter === undefined && !gone.aggregate_usage) {
    throw backedByMeters()
  }
  if (params.billing_scheme === 'tiered') {
    if (params.amount === undefined && params.amount_decimal === undefined) return
    throw invalidRequest(
      'When `billing_scheme` is `tiered`, `amount` cannot be set: the tiers have amounts of their own.',
      'amount',
    )
  }
  if (params.amount === undefined && params.amount_decimal === undefined) {
    throw invalidRequest(
      'Plans require an `amount` or `amount_decimal` parameter to be set.',
      'amount',
      'parameter_missing',
    )
  }
}

function productOf(work: UnitOfWork, product: Stripe.PlanCreateParams['product']): string {
  if (product === undefined) throw missingParam('product')
  if (typeof product === 'string') return product
  const { tax_code: _code, tax_details: _details, ...made } = product
  const row = createProduct(work, made)
  work.emit('product.created', 'product', row)
  return row.id
}
