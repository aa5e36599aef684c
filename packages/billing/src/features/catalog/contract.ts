import type { Money } from '../../core/values/money.ts'

/** A price that a provider can charge for subscriptions: at Braintree, a plan. */
export interface CatalogPrice {
  /** The provider's id of the price. */
  readonly id: string
  /** Name for people. `null` if the provider has none. */
  readonly name: string | null
  /** Amount per unit and period. `null` if it depends on the quantity or the usage. */
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
  /** Whether it can still be used for new subscriptions. */
  readonly isValid: boolean
}

/** The prices and coupons of a provider, in the order in which the provider lists them. */
export interface Catalog {
  /** Lists at most `limit` prices that can be chosen for subscriptions. */
  listPrices(limit: number): Promise<CatalogPrice[]>
  /** Lists at most `limit` coupons. */
  listCoupons(limit: number): Promise<CatalogCoupon[]>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Prices and coupons as defined at the provider. */
    readonly catalog: Catalog
  }

  interface ReadingMethods {
    readonly catalog: 'listPrices' | 'listCoupons'
  }
}
