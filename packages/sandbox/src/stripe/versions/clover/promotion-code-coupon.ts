import { isRecord, lookUp } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** A promotion code held its whole coupon; clover tells a promotion, and the coupon's id in it. */
export const promotionCodeCoupon: VersionChange = {
  since: '2025-09-30',
  name: 'promotion-code-coupon',
  params: {
    'PromotionCodes.create'(form) {
      const { coupon } = form
      if (coupon === undefined || form.promotion !== undefined) return
      form.promotion = { type: 'coupon', coupon }
      delete form.coupon
    },
  },
  objects: {
    promotion_code(wire, tables) {
      if (!isRecord(wire.promotion)) return
      wire.coupon = lookUp('coupon', wire.promotion.coupon, tables)
      delete wire.promotion
    },
  },
}
