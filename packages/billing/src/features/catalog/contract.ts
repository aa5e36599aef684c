import type { Money } from '../../core/values/money.ts'

/** A price that a provider can charge for subscriptions: at Braintree, a plan. */
export interface CatalogPrice {
  /** The provider's id of the price. */
  readonly id: string
  /** Name for people. `null` if the provider has none. */
  readonly name: string | null
  /**
   * Amount per unit and period. `null` if the amount per unit depends on the quantity or the usage.
   */
  readonly amount: Money | null
  /** Length of a billing period. */
  readonly period: { readonly unit: 'day' | 'week' | 'month' | 'year'; readonly count: number }
  /** Days of trial that new subscriptions get by default. `null` if they start without a trial. */
  readonly trialDays: number | null
}

/** A coupon of a provider: at Braintree, a discount. */
export interface CatalogCoupon {
  /** The provider's id of the coupon. */
  readonly id: string
  /** Name for people. `null` if it has none. */
  readonly name: string | null
  /** Percentage, such as 25 or 12.5. `null` for a fixed amount. */
  readonly percentOff: number | null
  /** Fixed amount. `null` for a percentage. */
  readonly amountOff: Money | null
  /** `once`, `forever`, or the number of billing periods (at Stripe: of months). */
  readonly lasts: 'once' | 'forever' | number
  /** Whether the coupon can still be used for new subscriptions. */
  readonly isValid: boolean
}

/** A code that customers type to get a coupon. Braintree has none. */
export interface CatalogPromotionCode {
  /** The provider's id of the code. */
  readonly id: string
  /** The code that customers type. */
  readonly code: string
  /** The provider's id of the coupon that the code gives. */
  readonly coupon: string
  /** Whether the code, and its coupon, can still be used. */
  readonly isActive: boolean
  /** When the code expires. `null` if it never expires. */
  readonly expiresAt: Date | null
  /** How often the code can still be used. `null` if this is not limited. */
  readonly left: number | null
}

/** Selects one page of a list in the catalog. */
export interface CatalogRange {
  /** Maximum number of entries on the page, from 1 to 100. */
  readonly limit: number
  /** Cursor: id of the last entry of the previous page. `null` for the first page. */
  readonly after: string | null
}

/** One page of a list in the catalog. */
export interface CatalogPage<Entry> {
  /** The entries, in the order in which the provider lists them. */
  readonly entries: readonly Entry[]
  /** Cursor: the value of `after` for the next page. `null` on the last page. */
  readonly next: string | null
}

/**
 * The prices, coupons and promotion codes of a provider. Each method throws `InvalidArgument` if
 * the entry `after` no longer exists.
 */
export interface Catalog {
  /** Lists prices that can be chosen for subscriptions. Leaves out archived ones. */
  listPrices(range: CatalogRange): Promise<CatalogPage<CatalogPrice>>
  /** Lists coupons. */
  listCoupons(range: CatalogRange): Promise<CatalogPage<CatalogCoupon>>
  /** Lists promotion codes, including those that can no longer be used. */
  listPromotionCodes(range: CatalogRange): Promise<CatalogPage<CatalogPromotionCode>>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /**
     * Gateway interface to the prices, coupons and promotion codes that are defined at the
     * provider.
     */
    readonly catalog: Catalog
  }

  interface ReadOnlyMethods {
    readonly catalog: keyof Catalog
  }
}
