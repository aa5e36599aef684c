import type { BillableUser } from '../billable-user.ts'
import type { ResumeOperation } from '../core/context.ts'
import type { OperationKind } from '../core/storage/tables.ts'
import type { SubscriptionScope, SubscriptionScopeWith } from '../core/subscription-scope.ts'
import type { UserScope, UserScopeWith } from '../core/user-scope.ts'
import type { BraintreeContext } from '../providers/braintree/client.ts'
import type { Gateway } from '../providers/gateway.ts'
import type { Capability, GatewayParts } from '../providers/gateway-parts.ts'
import type { StripeContext } from '../providers/stripe/client.ts'
import type { Subscription } from '../subscription.ts'
import type { Invoice } from './invoices/invoice.ts'
import type { SubscriptionBuilder } from './subscribe/builder.ts'

/** The methods of `T` as functions with the scope as first parameter. */
type ScopedMethods<T, Scope> = {
  readonly [Name in keyof T]?: T[Name] extends (...args: infer Args) => infer Result
    ? (scope: Scope, ...args: Args) => Result
    : never
}

/** Methods that change a subscription. As methods they resolve to the changed subscription. */
type ScopedChangeMethods<Scope> = {
  readonly [Name in keyof Subscription]?: Subscription[Name] extends (
    ...args: infer Args
  ) => Promise<Subscription>
    ? (scope: Scope, ...args: Args) => Promise<void>
    : never
}

/** Parts that a feature may add to billing. */
interface FeatureParts<User, Changed> {
  /** Methods of a user. */
  readonly user?: ScopedMethods<BillableUser, User>
  /** Methods that read from a subscription. */
  readonly subscription?: ScopedMethods<Subscription, Changed>
  /** Methods that change a subscription. */
  readonly changes?: ScopedChangeMethods<Changed>
  /**
   * How each kind of operation is finished after a crash. `null` if a repeated call finishes it.
   */
  readonly operations?: { readonly [Kind in OperationKind]?: ResumeOperation | null }
}

/** A feature that every payment provider supports. */
export interface BillingFeature extends FeatureParts<UserScope, SubscriptionScope> {
  readonly stripe?: (context: StripeContext) => Partial<Gateway>
  readonly braintree?: (context: BraintreeContext) => Partial<Gateway>
}

/**
 * A feature that some payment providers do not support. For users of these providers, its methods
 * throw Unsupported before any request.
 */
export interface CapabilityFeature<Name extends Capability>
  extends FeatureParts<UserScopeWith<Name>, SubscriptionScopeWith<Name>> {
  /**
   * Names of further `Subscription` methods that need the capability, and that check for it
   * themselves.
   */
  readonly subscriptionNeeds?: readonly (keyof Subscription)[]
  /** Names of the `SubscriptionBuilder` methods that need the capability. */
  readonly builder?: readonly (keyof SubscriptionBuilder)[]
  /** Names of the `Invoice` methods that need the capability. */
  readonly invoice?: readonly (keyof Invoice)[]
  /**
   * Implements the capability for Stripe. Left out if Stripe does not support it. The property
   * `braintree` does the same for Braintree.
   */
  readonly stripe?: (context: StripeContext) => Pick<GatewayParts, Name>
  readonly braintree?: (context: BraintreeContext) => Pick<GatewayParts, Name>
}

// The declared return types name no SDK type, so that applications need not install the SDK of a
// provider they do not use.

export function defineFeature<const F extends BillingFeature>(
  added: F,
): {
  readonly [Key in keyof F]: F[Key] extends (context: never) => infer Parts
    ? (context: never) => Parts
    : F[Key]
} {
  return added as never
}

export function defineCapability<Name extends Capability, const F extends CapabilityFeature<Name>>(
  name: Name,
  added: F,
): {
  readonly [Key in keyof F]: F[Key] extends (context: never) => infer Parts
    ? (context: never) => Parts
    : F[Key]
} & { readonly capability: Name } {
  return { ...added, capability: name } as never
}

/** Picks one capability from an object that implements several. */
export function pickGatewayPart<Parts, Name extends keyof Parts>(
  parts: Parts,
  name: Name,
): Pick<Parts, Name> {
  return { [name]: parts[name] } as Pick<Parts, Name>
}

/** Converts a union of types to their intersection. */
export type UnionToIntersection<T> = (T extends unknown ? (each: T) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never
