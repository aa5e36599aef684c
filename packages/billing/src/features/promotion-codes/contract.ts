import type { Money } from '../../core/values/money.ts'
import type { ActiveDiscount } from '../../providers/subscription.ts'

/**
 * Discount of a promotion code, and how long it applies. If `bills` and `months` are `null`, it
 * applies forever.
 */
export interface PromotionCodeDiscount extends Omit<ActiveDiscount, 'endsAt' | 'billsLeft'> {
  /**
   * Number of invoices that the discount applies to. `null` if it applies for a number of months,
   * or forever.
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
  /** The provider's id of the promotion code, which requests contain instead of the code itself. */
  readonly id: string
  /** The code as customers type it. */
  readonly code: string
  /** Discount that the code gives. */
  readonly discount: PromotionCodeDiscount
  /** When the code expires. `null` for never. */
  readonly expiresAt: Date | null
  /** Whether the code is only for customers who have never paid. */
  readonly isFirstTimeOnly: boolean
  /** Minimum amount of the purchase. `null` if there is no minimum. */
  readonly minimum: Money | null
  /** How often the code can still be used. `null` if this is not limited. */
  readonly left: number | null
  /** Whether the code is enabled and its coupon is still valid. */
  readonly isActive: boolean
  /** The provider's id of the only customer who can use the code. `null` if everyone can. */
  readonly customerId: string | null
  /** The object as the provider's SDK returned it. */
  readonly raw: unknown
}

/** A coupon or promotion code to apply, by the provider's id. */
export type NewDiscount = { readonly coupon: string } | { readonly promotionCode: string }

/** Gateway interface to promotion codes. The provider decides whether a customer can use a code. */
export interface PromotionCodes {
  /**
   * Finds a promotion code by its text: the active one, otherwise the newest inactive one. `null`
   * if there never was one. If the code has reached its limit only because this customer began a
   * subscription with it and never paid, the code counts as unused: the customer can apply it
   * again.
   */
  find(code: string, customerId: string | null): Promise<ProviderPromotionCode | null>
  /** Replaces the discounts of a subscription. Does nothing if the discount is applied already. */
  apply(subscriptionId: string, discount: NewDiscount): Promise<void>
  /** Removes all discounts of a subscription. Does nothing if there are none. */
  removeAll(subscriptionId: string): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to promotion codes. */
    readonly promotionCodes: PromotionCodes
  }

  interface ReadOnlyMethods {
    readonly promotionCodes: 'find'
  }
}
