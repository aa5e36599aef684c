import { addMonths } from '@tollgate/http'
import { createBlankRow } from '../state/blank.ts'
import type { CouponRow, CustomerRow, DiscountRow, PromotionCodeRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createMutuallyExclusiveFault,
  createNoSuchObjectFault,
} from '../wire/errors.ts'
import { formatAmount } from '../wire/money.ts'
import { findAmountOff, isCouponValid } from './coupons.ts'
import { computeCost, isMeteredPriceRow } from './tiers.ts'

export interface DiscountParam {
  readonly coupon?: string
  readonly promotion_code?: string
  readonly discount?: string
}

interface DiscountTarget {
  /** The customer. `null` for a guest checkout. */
  readonly customer: CustomerRow | null
  readonly subscription?: string
  readonly subscriptionItem?: string
  readonly invoice?: string
  readonly invoiceItem?: string
  readonly checkoutSession?: string
  /** When the discount starts, in Unix seconds. Defaults to now. */
  readonly start?: number
  /**
   * Whether the discount becomes the customer's discount, which applies to all invoices of the
   * customer that have no other discount.
   */
  readonly belongsToCustomer?: boolean
  /** Currency of the purchase. A fixed-amount coupon must support it. */
  readonly currency: string
  /** The items bought. Needed to check a promotion code's minimum amount. */
  readonly bought?: readonly PurchasedItem[]
}

export interface PurchasedItem {
  readonly price: string
  /** Number of units. `null` for a metered price, whose usage is not known yet. */
  readonly quantity: number | null
}

/**
 * Redeems the coupons and promotion codes of a call, and returns the ids of the discounts. Existing
 * discounts keep their ids.
 * @throws {StripeFault} If a coupon or code is invalid for this purchase.
 */
export function redeemDiscounts(
  work: UnitOfWork,
  params: readonly DiscountParam[] | '' | null,
  target: DiscountTarget,
): string[] {
  if (params === '' || params === null) return []
  return params.map((param, at) => {
    const path = `discounts[${at}]`
    const given = [param.coupon, param.promotion_code, param.discount].filter(
      (id) => id !== undefined,
    )
    if (given.length !== 1) {
      if (given.length === 0) throw createMissingParamFault(`${path}[coupon]`)
      throw createMutuallyExclusiveFault('coupon, promotion_code, discount', path)
    }
    if (param.discount !== undefined)
      return requireDiscount(work, param.discount, `${path}[discount]`, target)
    if (param.promotion_code !== undefined) {
      const code = requirePromotionCode(
        work,
        param.promotion_code,
        `${path}[promotion_code]`,
        target,
      )
      const coupon = work.requireLive(
        'coupon',
        code.promotion.coupon ?? '',
        `${path}[promotion_code]`,
      )
      work.edit('promotion_code', code).times_redeemed += 1
      return redeem(work, coupon, code, target, `${path}[promotion_code]`).id
    }
    const coupon = work.requireLive('coupon', param.coupon ?? '', `${path}[coupon]`)
    return redeem(work, coupon, null, target, `${path}[coupon]`).id
  })
}

function requireDiscount(
  work: UnitOfWork,
  id: string,
  param: string,
  target: DiscountTarget,
): string {
  const discount = work.require('discount', id, param)
  if (discount.$.ended || discount.customer !== (target.customer?.id ?? null))
    throw createNoSuchObjectFault('discount', id, param)
  return id
}

function requirePromotionCode(
  work: UnitOfWork,
  id: string,
  param: string,
  target: DiscountTarget,
): PromotionCodeRow {
  const code = work.require('promotion_code', id, param)
  const expired = code.expires_at !== null && code.expires_at <= work.now
  const used = code.max_redemptions !== null && code.times_redeemed >= code.max_redemptions
  if (!code.active || expired || used) {
    throw createInvalidRequestFault(
      'This promotion code cannot be redeemed because it is inactive or expired.',
      param,
      'promotion_code_inactive',
    )
  }
  if (code.customer !== null && code.customer !== target.customer?.id) {
    throw createInvalidRequestFault(
      'This promotion code cannot be redeemed by this customer.',
      param,
    )
  }
  if (code.restrictions.first_time_transaction) {
    // A guest cannot be recognized, so their first purchase cannot be proven either.
    if (!target.customer || hasPaid(work, target.customer.id)) {
      throw createInvalidRequestFault(
        'This promotion code cannot be redeemed because the associated customer has prior transactions.',
        param,
        'promotion_code_customer_not_first_time',
      )
    }
  }
  if (target.bought) checkMinimumAmount(work, code, target.bought, target.currency, param)
  return code
}

/**
 * Checks that the price of the purchased items reaches a promotion code's minimum amount. The full
 * price counts, even if the purchase starts with a free trial.
 */
export function checkMinimumAmount(
  work: UnitOfWork,
  { restrictions, $: own }: PromotionCodeRow,
  bought: readonly PurchasedItem[],
  currency: string,
  param: string,
): void {
  const other = own?.currencyOptions?.[currency]
  const least = other?.minimum_amount ?? restrictions.minimum_amount
  const leastIn = other ? currency : restrictions.minimum_amount_currency
  if (least === null) return
  const value = bought.reduce((sum, { price: id, quantity }) => {
    const price = work.require('price', id)
    return isMeteredPriceRow(price) ? sum : sum + computeCost(price, quantity ?? 1, currency)
  }, 0)
  if (leastIn === currency && value >= least) return
  throw createInvalidRequestFault(
    `This promotion code cannot be redeemed because the order is below its minimum of ${formatAmount(least, leastIn ?? currency)}.`,
    param,
  )
}

function hasPaid(work: UnitOfWork, customer: string): boolean {
  return work
    .findBy('invoice', 'customer', customer)
    .some((invoice) => invoice.status === 'paid' && invoice.amount_paid > 0)
}

function redeem(
  work: UnitOfWork,
  coupon: CouponRow,
  code: PromotionCodeRow | null,
  target: DiscountTarget,
  param: string,
): DiscountRow {
  if (!isCouponValid(work, coupon)) {
    throw createInvalidRequestFault(`Coupon expired: ${coupon.id}`, param, 'coupon_expired')
  }
  if (coupon.amount_off !== null && findAmountOff(coupon, target.currency) === null) {
    throw createInvalidRequestFault(
      `The coupon's currency (${coupon.currency}) must match the currency being billed (${target.currency}).`,
      param,
    )
  }
  work.edit('coupon', coupon)
  coupon.times_redeemed += 1
  coupon.valid = isCouponValid(work, coupon)
  const { start = work.now } = target
  const discount: DiscountRow = {
    ...createBlankRow('discount'),
    id: work.newId('di_1'),
    ...(target.checkoutSession ? { checkout_session: target.checkoutSession } : {}),
    customer: target.customer?.id ?? null,
    end:
      coupon.duration === 'repeating'
        ? addMonths(new Date(start * 1000), coupon.duration_in_months ?? 0).getTime() / 1000
        : null,
    invoice: target.invoice ?? null,
    invoice_item: target.invoiceItem ?? null,
    promotion_code: code?.id ?? null,
    source: { coupon: coupon.id, type: 'coupon' },
    start,
    subscription: target.subscription ?? null,
    subscription_item: target.subscriptionItem ?? null,
    $: { ended: false },
  }
  const lasting = target.subscription !== undefined || target.belongsToCustomer === true
  const event = lasting ? 'customer.discount.created' : undefined
  return work.insert('discount', discount, event)
}
