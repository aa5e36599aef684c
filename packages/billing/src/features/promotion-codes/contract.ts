import type { Money } from '../../core/values/money.ts'
import type { ActiveDiscount } from '../../providers/subscription.ts'

/**
 * Discount of a code, and how long it applies. Without `bills` and `months`, it applies forever.
 */
export interface CodeDiscount extends Omit<ActiveDiscount, 'endsAt' | 'billsLeft'> {
  /**
   * Number of invoices that the discount applies to. `null` if it applies for months, or forever.
   */
  readonly bills: number | null
  /**
   * Number of months for which the discount applies. `null` if it applies to a number of invoices,
   * or forever.
   */
  readonly months: number | null
}

/** A promotion code, in the same form for every provider. */
export interface ProviderPromotionCode {
  /** The provider's id of the code, which is sent instead of it. */
  readonly id: string
  /** The code as customers type it. */
  readonly code: string
  /** Discount of the code. */
  readonly discount: CodeDiscount
  /** When the code expires. `null` for never. */
  readonly expiresAt: Date | null
  /** Whether the code is only for customers who have never paid. */
  readonly isFirstTimeOnly: boolean
  /** Minimum amount of the purchase. `null` for none. */
  readonly minimum: Money | null
  /** How often the code can still be used. `null` for any number. */
  readonly left: number | null
  /** Whether the code is switched on, and its coupon is still valid. */
  readonly isActive: boolean
  /** The provider's id of the only customer who can use the code. `null` for everyone. */
  readonly customerId: string | null
  /** The provider's own object. */
  readonly raw: unknown
}

/** A discount to apply, by the provider's id. */
export type NewDiscount = { readonly coupon: string } | { readonly promotionCode: string }

/** Promotion codes. The provider decides whether a customer can use one. */
export interface PromotionCodes {
  /**
   * Finds the active code, otherwise the newest inactive one. `null` if there never was one. If the
   * customer's first payment with a used up code was never made, the code counts as unused:
   * applying it again restores that use.
   */
  find(code: string, customerId: string | null): Promise<ProviderPromotionCode | null>
  /** Replaces the discounts of a subscription. Does nothing if the discount is applied already. */
  apply(subscriptionId: string, discount: NewDiscount): Promise<void>
  /** Removes all discounts. Does nothing if there are none. */
  removeAll(subscriptionId: string): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Promotion codes that customers type. */
    readonly promotionCodes: PromotionCodes
  }

  interface ReadingMethods {
    readonly promotionCodes: 'find'
  }
}
