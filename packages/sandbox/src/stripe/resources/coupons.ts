import type Stripe from 'stripe'
import type { StripeOperations } from '../api/operation.ts'
import {
  createOperation,
  listOperation,
  removeOperation,
  updateOperation,
} from '../api/resource.ts'
import { isCouponValid, readAmountsOff } from '../catalog/coupons.ts'
import { createBlankRow } from '../state/blank.ts'
import { renderRow } from '../state/render.ts'
import type { CouponRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createBelowOneFault, createInvalidRequestFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import { requireCurrency } from '../wire/money.ts'

export const couponOperations: StripeOperations = {
  'Coupons.create': createOperation('coupon', (params, { work }) => {
    const id = params.id ?? work.newId('', 8)
    if (work.find('coupon', id)?.$.deleted === false) {
      throw createInvalidRequestFault('Coupon already exists.', 'id', 'resource_already_exists')
    }
    checkCoupon(work, params)
    const products = params.applies_to?.products ?? null
    for (const product of products ?? []) work.require('product', product, 'applies_to[products]')
    const coupon: CouponRow = {
      ...createBlankRow('coupon'),
      id,
      created: work.now,
      duration: 'once',
      ...pickSentFields(
        params,
        'amount_off',
        'duration',
        'duration_in_months',
        'max_redemptions',
        'name',
      ),
      ...pickSentFields(params, 'percent_off', 'redeem_by'),
      currency: params.currency === undefined ? null : requireCurrency(params.currency),
      metadata: mergeMetadata({}, params.metadata),
      times_redeemed: 0,
      valid: true,
      $: { products, deleted: false },
    }
    if (params.currency_options) {
      coupon.$.currencyOptions = readAmountsOff(coupon, params.currency_options)
    }
    return coupon
  }),
  'Coupons.retrieve': (_params, { work, id }) => {
    const coupon = work.requireLive('coupon', id)
    return { ...renderRow('coupon', coupon, work.tables), valid: isCouponValid(work, coupon) }
  },
  'Coupons.update': updateOperation('coupon', ['name'], (coupon, { currency_options: options }) => {
    if (!options) return
    coupon.$.currencyOptions = readAmountsOff(coupon, options, coupon.$.currencyOptions)
  }),
  'Coupons.del': removeOperation('coupon', (coupon, { work }) => {
    work.emit('coupon.deleted', 'coupon', coupon)
    // Existing discounts still refer to the coupon.
    work.edit('coupon', coupon).$.deleted = true
  }),
  'Coupons.list': listOperation('coupon'),
}

function checkCoupon(work: UnitOfWork, params: Stripe.CouponCreateParams): void {
  const { percent_off: percent, amount_off: amount, duration = 'once' } = params
  if ((percent === undefined) === (amount === undefined)) {
    throw createInvalidRequestFault(
      percent === undefined
        ? 'You must set either `percent_off` or `amount_off` on the coupon.'
        : 'You may only specify one of these parameters: amount_off, percent_off.',
      percent === undefined ? 'percent_off' : 'amount_off',
    )
  }
  if (percent !== undefined && !(percent > 0 && percent <= 100)) {
    throw createInvalidRequestFault(
      `Invalid percent_off: must be greater than 0 and less than or equal to 100`,
      'percent_off',
    )
  }
  if (amount !== undefined && amount < 1) throw createBelowOneFault('amount_off')
  if (amount !== undefined && params.currency === undefined) {
    throw createInvalidRequestFault('You must pass currency when passing amount_off', 'currency')
  }
  const months = params.duration_in_months
  if (duration === 'repeating' && (months === undefined || months < 1)) {
    throw createInvalidRequestFault(
      'You must set duration_in_months when duration is `repeating`.',
      'duration_in_months',
    )
  }
  if (duration !== 'repeating' && months !== undefined) {
    throw createInvalidRequestFault(
      'You may only set duration_in_months when duration is `repeating`.',
      'duration_in_months',
    )
  }
  if (params.redeem_by !== undefined && params.redeem_by <= work.now) {
    throw createInvalidRequestFault('The redeem_by date must be in the future.', 'redeem_by')
  }
  if (params.max_redemptions !== undefined && params.max_redemptions < 1) {
    throw createBelowOneFault('max_redemptions')
  }
}
