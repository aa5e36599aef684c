import type { CouponRow, CustomerRow, DiscountRow, SubscriptionRow } from './rows.ts'
import type { UnitOfWork } from './unit-of-work.ts'

export function endDiscount(work: UnitOfWork, id: string): void {
  const discount = work.find('discount', id)
  if (!discount || discount.$.ended) return
  work.edit('discount', discount).$.ended = true
  if (discount.subscription || isCustomers(discount))
    work.emit('customer.discount.deleted', 'discount', discount)
}

/**
 * Whether the discount belongs to the customer or a subscription, not to a single invoice, item or
 * session.
 */
function isCustomers(discount: DiscountRow): boolean {
  const { checkout_session, invoice, invoice_item, subscription_item } = discount
  return !checkout_session && !invoice && !invoice_item && !subscription_item
}

/**
 * Returns the ids of an invoice's initial discounts: the discounts of the subscription, or the
 * customer's discount if the subscription has none.
 */
export function listInheritedDiscounts(
  work: UnitOfWork,
  customer: CustomerRow | undefined,
  subscription: SubscriptionRow | null | undefined,
): readonly string[] {
  if (subscription && subscription.discounts.length > 0) return subscription.discounts
  const own = customer?.$.discount
  return own ? filterLiveDiscounts(work, [own], work.now) : []
}

export function findDiscountCoupon(work: UnitOfWork, discountId: string): CouponRow | null {
  const discount = work.find('discount', discountId)
  return work.find('coupon', discount?.source.coupon ?? '') ?? null
}

/** Returns the ids of those discounts that still apply at a time. */
export function filterLiveDiscounts(
  work: UnitOfWork,
  ids: readonly string[],
  at: number,
): string[] {
  return ids.filter((id) => {
    const discount = work.find('discount', id)
    return discount && !discount.$.ended && (discount.end === null || discount.end > at)
  })
}
