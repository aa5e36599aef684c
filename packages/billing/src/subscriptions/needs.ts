import type { Capability } from '../gateways/contract/parts.ts'

/**
 * The methods that not every provider can do, each with the part of the gateway that it needs. From here
 * come both the `Unsupported` that they throw before any call, and the types of those who lack them.
 */
export const SUBSCRIPTION_NEEDS = {
  incrementQuantity: 'quantities',
  decrementQuantity: 'quantities',
  updateQuantity: 'quantities',
  incrementAndInvoice: 'quantities',
  updateQuantityAndInvoice: 'quantities',
  applyPromotionCode: 'promotionCodes',
  applyCoupon: 'promotionCodes',
  removeDiscounts: 'promotionCodes',
  addPrice: 'items',
  addPriceAndInvoice: 'items',
  removePrice: 'items',
  swapItem: 'items',
  preview: 'items',
  swapAtPeriodEnd: 'schedules',
  plannedSwap: 'schedules',
  cancelPlannedSwap: 'schedules',
  pause: 'pauses',
  unpause: 'pauses',
  pausedUntil: 'pauses',
  cancelAt: 'endDates',
  extendTrial: 'trials',
  endTrial: 'trials',
  reportUsage: 'usage',
  usage: 'usage',
  upcomingInvoice: 'forecasts',
  latestPayment: 'payments',
  addMeteredPrice: 'meteredPrices',
} as const satisfies Readonly<Record<string, Capability>>

/** The same, of a subscription to be. What needs `quantities`, `items`, `trials` or `promotionCodes` is asked by `create()`. */
export const BUILDER_NEEDS = {
  quantity: 'quantities',
  price: 'items',
  meteredPrice: 'meteredPrices',
  trialUntil: 'trials',
  anchorOn: 'anchors',
  backdate: 'backdating',
  noProrate: 'anchors',
  withoutCard: 'freeStarts',
  withTax: 'automaticTax',
  checkout: 'checkout',
  withPromotionCode: 'promotionCodes',
  preview: 'forecasts',
} as const satisfies Readonly<Record<string, Capability>>
