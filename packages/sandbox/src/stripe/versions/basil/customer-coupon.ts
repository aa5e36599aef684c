import type { VersionChange } from '../basics/version-change.ts'

/** A customer could have a coupon, which everything they pay for had that has none of its own. */
export const customerCoupon: VersionChange = {
  since: '2025-03-31',
  name: 'customer-coupon',
  takes: {
    'Customers.create': ['coupon', 'promotion_code'],
    'Customers.update': ['coupon', 'promotion_code'],
  },
}
