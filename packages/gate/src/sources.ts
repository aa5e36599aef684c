import type { HttpResponse } from '@tollgate/http'
import type { Subject } from './subject.ts'

/** The user or client behind a request, as `@tollgate/oauth` describes it. */
export interface GateCaller {
  /** Id of the user. `null` for a client that acts for itself. */
  readonly userId: string | null
  /** The `client_id`. `null` in cookie mode. */
  readonly clientId: string | null
}

/** Limits of a plan on the scopes of tokens. */
export interface PlanLimits {
  /** Whether the plan allows the scope. */
  allows(scope: string): boolean
  /** Builds the response to a request that needs these scopes, which the plan does not allow. */
  refusal(scopes: readonly string[]): HttpResponse
}

/**
 * An authorization server whose tokens the gate limits, such as one from
 * `createAuthorizationServer()`.
 */
export interface GateOAuth {
  /** The scopes of the server, by name. */
  readonly scopes: Readonly<Record<string, string>>
  /**
   * Registers a function that limits the scopes of tokens by plan. Returns a function that removes
   * the limit.
   */
  limitScopes(limiter: {
    limitsOf(caller: GateCaller): PlanLimits | null | Promise<PlanLimits | null>
  }): () => void
}

/** Returns the subject of a caller: the user, or the client that acts for itself. */
export function toSubject({ userId, clientId }: GateCaller): Subject {
  if (userId !== null) return { type: 'user', id: userId }
  return { type: 'client', id: clientId ?? '' }
}

/** The members of a subscription of `@tollgate/billing` that the gate reads. */
export interface GateSubscription {
  /** Name of the payment provider, such as `stripe`. */
  readonly provider: string
  /** When access ends, or ended. `null` while the subscription renews. */
  readonly endsAt: Date | null
  /** When the trial ends. `null` without one. */
  readonly trialEndsAt: Date | null
  /** When a planned change of price takes effect. `null` without one. */
  readonly plannedAt: Date | null
  /**
   * The current billing period or trial, for quotas per `period`. It may still be the previous one
   * shortly after a renewal.
   */
  readonly currentPeriod?: { readonly startsAt: Date; readonly endsAt: Date } | null
  /** Whether the subscription gives access now. */
  active(): boolean
  /**
   * Whether the subscription has the price with this id, as its main price or an additional one.
   */
  hasPrice(price: string): boolean
}

/** A source of subscriptions, such as the billing that `createBilling()` returns. */
export interface GateBilling {
  /** Finds an owner of subscriptions by type and id. `null` if there is none. */
  findOwner(
    type: string,
    id: string | number,
  ): Promise<{ subscriptions(): Promise<readonly GateSubscription[]> } | null>
}
