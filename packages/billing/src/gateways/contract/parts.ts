import { Unsupported } from '../../errors.ts'
import type { ProviderName } from '../../provider-name.ts'
import type { Confirmations } from './parts/subscriptions/confirmations.ts'
import type { Quantities } from './parts/subscriptions/quantities.ts'
import type { Replacements } from './parts/subscriptions/replacements.ts'

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
