import { isRecord, lookUp } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** A discount held its whole coupon; clover tells a source, and the coupon's id in it. */
export const discountCoupon: VersionChange = {
  since: '2025-09-30',
  name: 'discount-coupon',
  objects: {
    discount(wire, tables) {
      if (!isRecord(wire.source)) return
      wire.coupon = lookUp('coupon', wire.source.coupon, tables)
      delete wire.source
    },
  },
}
