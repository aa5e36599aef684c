import type { AuthorizationState } from '../../core/errors/errors.ts'
import type { Money } from '../../core/values/money.ts'

/** An authorized payment: the money is reserved on the card first and taken later. */
export interface CardAuthorization {
  /** The provider's id of the authorization, as returned by `charge()`. */
  readonly id: string
  /**
   * State of the authorization. `pending`: the customer or the bank has not approved it yet.
   * `authorized`: the money is reserved. `captured`: the money was taken, in full or in part.
   * `released`: the reservation was cancelled. `expired`: it was not captured in time, so the bank
   * freed the money.
   */
  readonly status: AuthorizationState
  /** The amount that was reserved. */
  readonly authorized: Money
  /** The amount that was captured; zero until then. */
  readonly captured: Money
  /**
   * When the authorization expires. `null` if the provider does not say, or if the authorization is
   * no longer open.
   */
  readonly expiresAt: Date | null
  /** The object as the provider's SDK returned it. */
  readonly raw: unknown
}

/** Gateway interface for payments that are authorized now and captured later. */
export interface PaymentCaptures {
  /** Finds a charge by its id. `null` if there is none, or it belongs to another customer. */
  find(id: string, customerId: string): Promise<CardAuthorization | null>
  /**
   * Captures an authorization, at most once, and returns its new state. The money that is not
   * captured is released. An authorization that is no longer `authorized` is returned unchanged.
   */
  capture(id: string, amount: Money): Promise<CardAuthorization>
  /**
   * Releases the money of an authorization and returns its new state. An authorization that is no
   * longer open is returned unchanged.
   */
  release(id: string): Promise<CardAuthorization>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /**
     * Gateway interface for payments that are authorized now and captured later. Gateways that
     * implement it accept the option `captureLater` in `charge()`.
     */
    readonly captures: PaymentCaptures
  }

  interface ReadOnlyMethods {
    readonly captures: 'find'
  }
}
