import type { CouponRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { noSuch } from '../wire/errors.ts'

export function requireCoupon(work: UnitOfWork, id: string, param = 'id'): CouponRow {
  const coupon = work.require('coupon', id, param)
  if (coupon.$.deleted) throw noSuch('coupon', id, param)
  return coupon
}

export function isValid(work: UnitOfWork, coupon: CouponRow): boolean {
  return (
    !coupon.$.deleted &&
    (coupon.redeem_by === null || coupon.redeem_by > work.now) &&
    (coupon.max_redemptions === null || coupon.times_redeemed < coupon.max_redemptions)
  )
}
