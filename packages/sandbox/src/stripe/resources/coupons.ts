import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { isValid, readAmountsOff, requireCoupon } from '../catalog/coupons.ts'
import { render } from '../state/render.ts'
import type { CouponRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { requireCurrency } from '../wire/money.ts'
import { nulls } from '../wire/wire.ts'

export const coupons: Operations = {
  'Coupons.create': op<Stripe.CouponCreateParams>((params, { work }) => {
    const id = params.id ?? work.newId('', 8)
    if (work.find('coupon', id)?.$.deleted === false) {
      throw invalidRequest('Coupon already exists.', 'id', 'resource_already_exists')
    }
    checkCoupon(work, params)
    for (const product of params.applies_to?.products ?? []) {
      work.require('product', product, 'applies_to[products]')
    }
    const coupon: CouponRow = {
      ...nulls<Stripe.Coupon>('coupon'),
      id,
      object: 'coupon',
      amount_off: params.amount_off ?? null,
      created: work.now,
      currency: params.currency === undefined ? null : requireCurrency(params.currency),
      duration: params.duration ?? 'once',
      duration_in_months: params.duration_in_months ?? null,
      livemode: false,
      max_redemptions: params.max_redemptions ?? null,
      metadata: mergeMetadata({}, params.metadata),
      name: params.name ?? null,
      percent_off: params.percent_off ?? null,
      redeem_by: params.redeem_by ?? null,
      times_redeemed: 0,
      valid: true,
      $: { products: params.applies_to?.products ?? null, deleted: false },
    }
    if (params.currency_options) {
      coupon.$.currencyOptions = readAmountsOff(coupon, params.currency_options)
    }
    work.insert('coupon', coupon, 'coupon.created')
    return render('coupon', coupon, work.tables)
  }),

  'Coupons.retrieve': op((_params, call) => {
    const coupon = requireCoupon(call.work, idOf(call))
    return { ...render('coupon', coupon, call.work.tables), valid: isValid(call.work, coupon) }
  }),

  'Coupons.update': op<Stripe.CouponUpdateParams>((params, call) => {
    const { work } = call
    const coupon = work.edit('coupon', requireCoupon(work, idOf(call)))
    if (params.name !== undefined) coupon.name = params.name || null
    if (params.currency_options) {
      const { currencyOptions } = coupon.$
      coupon.$.currencyOptions = readAmountsOff(coupon, params.currency_options, currencyOptions)
    }
    coupon.metadata = mergeMetadata(coupon.metadata, params.metadata)
    return render('coupon', coupon, work.tables)
  }),

  'Coupons.del': op((_params, call) => {
    const { work } = call
    const coupon = requireCoupon(work, idOf(call))
    work.emit('coupon.deleted', 'coupon', coupon)
    // Discounts already given keep referring to it.
    work.edit('coupon', coupon).$.deleted = true
    return { id: coupon.id, object: 'coupon', deleted: true }
  }),

  'Coupons.list': op<Stripe.CouponListParams>((params, { work, path }) => {
    const rows = filterRows(
      work.tables.coupon.newestFirst(),
      (row) => !row.$.deleted && inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, (row) => render('coupon', row, work.tables))
  }),
}

function checkCoupon(work: UnitOfWork, params: Stripe.CouponCreateParams): void {
  const { percent_off: percent, amount_off: amount, duration = 'once' } = params
  if ((percent === undefined) === (amount === undefined)) {
    throw invalidRequest(
      percent === undefined
        ? 'You must set either `percent_off` or `amount_off` on the coupon.'
        : 'You may only specify one of these parameters: amount_off, percent_off.',
      percent === undefined ? 'percent_off' : 'amount_off',
    )
  }
  if (percent !== undefined && !(percent > 0 && percent <= 100)) {
    throw invalidRequest(
      `Invalid percent_off: must be greater than 0 and less than or equal to 100`,
      'percent_off',
    )
  }
  if (amount !== undefined && amount < 1) {
    throw invalidRequest(
      'This value must be greater than or equal to 1.',
      'amount_off',
      'parameter_invalid_integer',
    )
  }
  if (amount !== undefined && params.currency === undefined) {
    throw invalidRequest('You must pass currency when passing amount_off', 'currency')
  }
  const months = params.duration_in_months
  if (duration === 'repeating' && (months === undefined || months < 1)) {
    throw invalidRequest(
      'You must set duration_in_months when duration is `repeating`.',
      'duration_in_months',
    )
  }
  if (duration !== 'repeating' && months !== undefined) {
    throw invalidRequest(
      'You may only set duration_in_months when duration is `repeating`.',
      'duration_in_months',
    )
  }
  if (params.redeem_by !== undefined && params.redeem_by <= work.now) {
    throw invalidRequest('The redeem_by date must be in the future.', 'redeem_by')
  }
  if (params.max_redemptions !== undefined && params.max_redemptions < 1) {
    throw invalidRequest(
      'This value must be greater than or equal to 1.',
      'max_redemptions',
      'parameter_invalid_integer',
    )
  }
}
