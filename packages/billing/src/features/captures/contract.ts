import type { AuthorizationState } from '../../core/errors/errors.ts'
import type { Money } from '../../core/values/money.ts'

/** A payment whose money is reserved first and taken later. */
export interface Authorization {
  /** The provider's id, which `charge()` returned. */
  readonly id: string
  /**
   * `pending`: the customer or the bank has not agreed yet. `authorized`: the money is reserved.
   * `captured`: the money was taken, in full or in part. `released`: the reservation was cancelled.
   * `expired`: it was not captured in time, so the bank freed the money.
   */
  readonly status: AuthorizationState
  /** The amount that was reserved. */
  readonly authorized: Money
  /** The amount that was taken; zero until it is captured. */
  readonly captured: Money
  /**
   * When the authorization expires. `null` if the provider does not say, or it is no longer open.
   */
  readonly expiresAt: Date | null
  /** The provider's own object. */
  readonly raw: unknown
}

/** Payments that are authorized now and captured later. */
export interface Captures {
  /** Finds a charge by its id. `null` if there is none, or it belongs to another customer. */
  find(id: string, customerId: string): Promise<Authorization | null>
  /**
   * Captures an authorization, at most once, and returns its new state. Releases the rest of the
   * money. If it is no longer `authorized`, returns it unchanged.
   */
  capture(id: string, amount: Money): Promise<Authorization>
  /**
   * Releases the money of an authorization and returns its new state. If it is no longer open,
   * returns it unchanged.
   */
  release(id: string): Promise<Authorization>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /**
     * Payments that are authorized now and captured later. `charge` then accepts `captureLater`.
     */
    readonly captures: Captures
  }

  interface ReadingMethods {
    readonly captures: 'find'
  }
}
