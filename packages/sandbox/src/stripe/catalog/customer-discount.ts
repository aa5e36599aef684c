import { endDiscount } from '../state/discounts.ts'
import type { CustomerRow, DiscountRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { redeemDiscounts } from './redeem-discounts.ts'

/** What older versions may ask for; nothing in its place takes the discount away. */
export interface CustomerCoupon {
  readonly coupon?: string
  readonly promotion_code?: string
}

export function discountCustomer(
  work: UnitOfWork,
  customer: CustomerRow,
  { coupon, promotion_code }: CustomerCoupon,
): void {
  const wanted = coupon === undefined ? promotion_code : coupon
  if (wanted === undefined) return
  removeCustomerDiscount(work, customer)
  if (wanted === '') return
  const currency = customer.currency ?? work.find('coupon', wanted)?.currency ?? 'usd'
  const asked = {
    ...(coupon === undefined ? {} : { coupon }),
    ...(promotion_code === undefined ? {} : { promotion_code }),
  }
  const [id] = redeemDiscounts(work, [asked], { customer, currency, standing: true })
  work.edit('customer', customer).$.discount = id ?? null
}

/** The discount that the customer had. */
export function removeCustomerDiscount(
  work: UnitOfWork,
  customer: CustomerRow,
): DiscountRow | undefined {
  const discount = work.find('discount', customer.$.discount ?? '')
  if (!discount) return undefined
  work.edit('customer', customer).$.discount = null
  endDiscount(work, discount.id)
  return discount
}
