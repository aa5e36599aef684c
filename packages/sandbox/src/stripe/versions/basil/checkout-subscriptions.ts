import type { VersionChange } from '../basics/version-change.ts'

/** A Checkout Session made its subscription when it was first paid for, paid or not; now once it is paid. */
export const checkoutSubscriptions: VersionChange = {
  since: '2025-03-31',
  name: 'checkout-subscriptions',
  ends: 'subscription-before-payment',
}
