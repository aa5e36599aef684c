import type { CouponRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createBelowOneFault, createInvalidRequestFault } from '../wire/errors.ts'
import { requireCurrency } from '../wire/money.ts'

/**
 * Returns a coupon's fixed discount in a currency, in minor units. `null` if the coupon has no
 * fixed discount, or none in this currency.
 */
export function findAmountOff(coupon: CouponRow, currency: string): number | null {
  if (currency === coupon.currency) return coupon.amount_off
  return coupon.$.currencyOptions?.[currency]?.amount_off ?? null
}

/**
 * Reads a coupon's fixed discounts in other currencies, and merges them into `storedOptions`. A
 * discount in the same currency is replaced.
 */
export function readAmountsOff(
  coupon: Pick<CouponRow, 'amount_off' | 'currency'>,
  amountParams: Readonly<Record<string, { readonly amount_off: number }>>,
  storedOptions: NonNullable<CouponRow['$']['currencyOptions']> = {},
): NonNullable<CouponRow['$']['currencyOptions']> {
  const options = { ...storedOptions }
  for (const [code, { amount_off }] of Object.entries(amountParams)) {
    const path = `currency_options[${code}]`
    const currency = requireCurrency(code, path)
    if (coupon.amount_off === null || currency === coupon.currency) {
      throw createInvalidRequestFault(
        'Only for coupons with `amount_off`, and for other currencies than their own.',
        path,
      )
    }
    if (amount_off < 1) throw createBelowOneFault(`${path}[amount_off]`)
    options[currency] = { amount_off }
  }
  return options
}

export function isCouponValid(work: UnitOfWork, coupon: CouponRow): boolean {
  return (
    !coupon.$.deleted &&
    (coupon.redeem_by === null || coupon.redeem_by > work.now) &&
    (coupon.max_redemptions === null || coupon.times_redeemed < coupon.max_redemptions)
  )
}
