import { isRecord } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** A checkout told itself where to ship; since basil that is with the rest it has collected. */
export const checkoutShipping: VersionChange = {
  since: '2025-03-31',
  name: 'checkout-shipping',
  objects: {
    'checkout.session'(wire) {
      const collected = wire.collected_information
      wire.shipping_details = isRecord(collected) ? (collected.shipping_details ?? null) : null
    },
  },
}
