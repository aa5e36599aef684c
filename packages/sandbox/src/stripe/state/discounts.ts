import type { CouponRow } from './rows.ts'
import type { UnitOfWork } from './unit-of-work.ts'

export function endDiscount(work: UnitOfWork, id: string): void {
  const discount = work.find('discount', id)
  if (!discount || discount.$.ended) return
  work.edit('discount', discount).$.ended = true
  if (discount.subscription) work.emit('customer.discount.deleted', 'discount', discount)
}

export function couponOf(work: UnitOfWork, discountId: string): CouponRow | null {
  const discount = work.find('discount', discountId)
  return work.find('coupon', discount?.source.coupon ?? '') ?? null
}

/** Discounts that still apply at an instant. */
export function liveDiscounts(work: UnitOfWork, ids: readonly string[], at: number): string[] {
  return ids.filter((id) => {
    const discount = work.find('discount', id)
    return discount && !discount.$.ended && (discount.end === null || discount.end > at)
  })
}
