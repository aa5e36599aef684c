import { Unsupported } from '../../errors.ts'
import type { PendingConfirmation } from '../../payment-errors.ts'
import type { ProviderName } from '../../provider-name.ts'
import type { FirstPayment, ProviderSubscription } from './subscription.ts'
import type { Replacement, Swap } from './swap.ts'

/** Several of one plan in a subscription. */
export interface Quantities {
  /** A repeat sets the same quantity again. */
  set(id: string, quantity: number): Promise<void>
}

/** Payments that wait for the customer, and subscriptions that are there before their first payment. */
export interface Confirmations {
  /** What the customer is asked to confirm: a card for after the trial, or a payment. */
  find(id: string): Promise<PendingConfirmation | null>
  /**
   * Of one whose first payment is missing: whether that is still on its way, for just this and by the
   * customer's present card. Otherwise nobody can say yes to it any more.
   */
  isAwaiting(subscription: ProviderSubscription, wanted: FirstPayment): Promise<boolean>
  /** Ends one whose first payment is missing: it can never come. One that came is left alone. */
  abandon(subscription: ProviderSubscription): Promise<void>
}

/** Swaps that cannot be made in place. */
export interface Replacements {
  /** Whether this swap needs a new subscription at the provider. */
  isNeeded(id: string, swap: Swap, now: Date): Promise<boolean>
  /** Makes the new subscription; the old one is cancelled by the caller once it stands. */
  create(id: string, swap: Swap, at: Replacement): Promise<ProviderSubscription>
}

/**
 * What some providers can do and others cannot. A feature that comes later is one more part here, with an
 * interface of its own: a gateway that lacks it stays as it is.
 */
export interface GatewayParts {
  /** Several of one plan. */
  readonly quantities: Quantities
  /** Payments that the customer has to confirm at their bank. */
  readonly confirmations: Confirmations
  /** Swaps that need another subscription in place of the old one. */
  readonly replacements: Replacements
}

/** The name of a part. */
export type Capability = keyof GatewayParts

/** The parts, as far as they change nothing. */
export interface ReadingParts {
  readonly confirmations?: Pick<Confirmations, 'find' | 'isAwaiting'>
  readonly replacements?: Pick<Replacements, 'isNeeded'>
}

/** The part, or Unsupported where the provider has none. No call was made by then. */
export function requirePart<Name extends Capability>(
  gateway: { readonly name: ProviderName } & Partial<GatewayParts>,
  part: Name,
): GatewayParts[Name] {
  const found = gateway[part]
  if (found) return found as GatewayParts[Name]
  throw unsupported(gateway.name, part)
}

/** The same, before the provider's SDK is loaded. */
export function requireCapability(
  provider: { readonly name: ProviderName; readonly can: readonly Capability[] },
  capability: Capability,
): void {
  if (!provider.can.includes(capability)) throw unsupported(provider.name, capability)
}

function unsupported(provider: ProviderName, capability: Capability): Unsupported {
  return new Unsupported(`There are no ${capability} at ${provider}`, { provider, capability })
}
