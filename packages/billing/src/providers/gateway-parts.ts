import { Unsupported } from '../core/errors/errors.ts'
import type { ProviderName } from '../core/values/provider-name.ts'

/**
 * The capabilities that not every provider has, each with its methods. Features add theirs in their
 * `contract.ts`. All are optional, so new ones do not break existing gateways. A capability that
 * only adds terms to `createSubscription` is `true`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: each feature adds to it.
export interface GatewayParts {}

/** Name of a capability. */
export type Capability = keyof GatewayParts

/**
 * The names of the read-only methods of each capability. Features add theirs in their
 * `contract.ts`. All other methods need the owner's lock.
 */
// biome-ignore lint/suspicious/noEmptyInterface: each feature adds to it.
export interface ReadOnlyMethods {}

/** The capabilities with their read-only methods only. */
export type ReadOnlyParts = {
  readonly [Part in keyof ReadOnlyMethods & Capability]?: Pick<
    GatewayParts[Part],
    ReadOnlyMethods[Part] & keyof GatewayParts[Part]
  >
}

/**
 * Returns the methods of a capability.
 * @throws Unsupported if the gateway lacks it, before any request is sent.
 */
export function requireGatewayPart<Name extends Capability>(
  gateway: { readonly name: ProviderName } & Partial<GatewayParts>,
  part: Name,
): GatewayParts[Name] {
  const found = gateway[part]
  if (found) return found as GatewayParts[Name]
  throw createUnsupported(gateway.name, part)
}

/**
 * Checks a capability without loading the provider's SDK.
 * @throws Unsupported if the provider lacks it, before any request is sent.
 */
export function requireCapability(
  provider: { readonly name: ProviderName; readonly can: readonly Capability[] },
  capability: Capability,
): void {
  if (!provider.can.includes(capability)) throw createUnsupported(provider.name, capability)
}

function createUnsupported(provider: ProviderName, capability: Capability): Unsupported {
  return new Unsupported(`${provider} has no ${capability}`, { provider, capability })
}
