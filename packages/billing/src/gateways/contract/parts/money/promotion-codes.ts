import type { Money } from '../../../../values/money.ts'
import type { ActiveDiscount } from '../../subscription.ts'

/** What a code takes off, and for how long from its use on. Neither bills nor months: without an end. */
export interface CodeDiscount extends Omit<ActiveDiscount, 'endsAt' | 'billsLeft'> {
  /** For so many bills: 1 is "once". Null: for months, or without an end. */
  readonly bills: number | null
  /** For so many months. Null: for bills, or without an end. */
  readonly months: number | null
}

/** A code that people type, in our words. */
export interface ProviderPromotionCode {
  /** The provider's id, which is sent in its place. */
  readonly id: string
  /** As people type it. */
  readonly code: string
  /** What it takes off. */
  readonly discount: CodeDiscount
  /** When it ends; null for never. */
  readonly expiresAt: Date | null
  /** Whether it is for those who have never paid. */
  readonly isFirstTimeOnly: boolean
  /** The least that must be bought; null for anything. */
  readonly minimum: Money | null
  /** How often it can still be used; null for any number. */
  readonly left: number | null
  /** Whether it is switched on, and what it takes off is still to be had. */
  readonly isActive: boolean
  /** The only customer that it is for; null for anybody. */
  readonly customerId: string | null
  /** The provider's own object. */
  readonly raw: unknown
}

/** What is taken off, by the provider's id. */
export type NewDiscount = { readonly coupon: string } | { readonly promotionCode: string }

/** Codes that people type. Whether one holds for a customer is for the provider to say. */
export interface PromotionCodes {
  /**
   * The one that is active, else the newest that was; null when there never was one. For a customer whose first payment with
   * it never came it has a use left: where the provider counts that one, it is given back when the code is used again.
   */
  find(code: string, customerId: string | null): Promise<ProviderPromotionCode | null>
  /** Takes the place of what was taken off before. Nothing happens when it is what is taken off. */
  apply(subscriptionId: string, discount: NewDiscount): Promise<void>
  /** Nothing happens when there is none. */
  removeAll(subscriptionId: string): Promise<void>
}
