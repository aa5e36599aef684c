import { BRAINTREE_MANIFEST, braintreeProvider } from './braintree-provider.ts'
import type { Logger } from './core/values/logger.ts'
import { createObserveFunction, type Observer } from './core/values/observer.ts'
import type { ProviderName } from './core/values/provider-name.ts'
import {
  lookUpStanding,
  type StandingsByStatus,
  type SubscriptionStanding,
} from './core/values/subscription-state.ts'
import type { BraintreeOptions } from './providers/braintree/options.ts'
import type { Gateway } from './providers/gateway.ts'
import type { Capability } from './providers/gateway-parts.ts'
import type { GatewayDependencies, Provider } from './providers/provider.ts'
import type { ConfiguredProviders } from './providers/providers.ts'
import type { StripeOptions } from './providers/stripe/options.ts'
import { STRIPE_MANIFEST, stripeProvider } from './stripe-provider.ts'

/** The capabilities of the built-in providers, known without connecting to the providers. */
export const builtInCapabilities: Readonly<Record<'stripe' | 'braintree', readonly Capability[]>> =
  { stripe: STRIPE_MANIFEST.can, braintree: BRAINTREE_MANIFEST.can }

export interface ProviderOptions {
  readonly stripe?: StripeOptions
  readonly braintree?: BraintreeOptions
  readonly providers?: readonly Provider[]
  readonly logger?: Logger
  readonly observe?: Observer
}

/** Creates the registry of the configured providers from the options of `createBilling()`. */
export function createProviders({
  stripe,
  braintree,
  providers = [],
  logger = console,
  observe,
}: ProviderOptions): ConfiguredProviders {
  const all = [
    ...(stripe ? [stripeProvider(stripe)] : []),
    ...(braintree ? [braintreeProvider(braintree)] : []),
    ...providers,
  ]
  const statuses = new Map<string, StandingsByStatus>(
    [STRIPE_MANIFEST, BRAINTREE_MANIFEST, ...all].map((each) => [each.name, each.statuses]),
  )
  const byName = new Map(all.map((each) => [each.name, each]))
  if (byName.size < all.length) throw new TypeError('providers: two of them have the same name.')
  const find = (name: ProviderName) => byName.get(name) ?? null
  const tools = { logger, ...(observe && { observe: createObserveFunction(observe, logger) }) }
  return { all, find, gateway: connectOnce(find, tools), standing, statuses }

  function standing(name: ProviderName, status: string): SubscriptionStanding {
    return lookUpStanding(statuses.get(name) ?? {}, status)
  }
}

function connectOnce(
  find: (name: ProviderName) => Provider | null,
  tools: GatewayDependencies,
): (name: ProviderName) => Promise<Gateway> {
  const made = new Map<ProviderName, Promise<Gateway>>()
  const connect = async (name: ProviderName) => {
    const provider = find(name)
    if (provider) return provider.connect(tools)
    throw new TypeError(
      `A user is billed by ${name}, which is not configured: pass its options to createBilling()`,
    )
  }
  return (name) => {
    const known = made.get(name)
    if (known) return known
    const gateway = connect(name)
    made.set(name, gateway)
    // Forget a failed connection, so that the next call retries: the failure may have been
    // temporary.
    gateway.catch(() => made.delete(name))
    return gateway
  }
}
