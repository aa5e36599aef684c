import type { ProviderName } from '../provider-name.ts'
import type { Logger } from '../values/logger.ts'
import { type Standing, type Statuses, standingOf } from '../values/subscription-state.ts'
import { BRAINTREE, braintreeProvider } from './braintree/provider.ts'
import type { BraintreeOptions } from './braintree/sdk/options.ts'
import type { Gateway } from './contract/gateway.ts'
import type { Provider, ProviderTools } from './contract/provider.ts'
import { STRIPE, stripeProvider } from './stripe/provider.ts'
import type { StripeOptions } from './stripe/sdk/options.ts'

export interface ProviderOptions {
  readonly stripe?: StripeOptions
  readonly braintree?: BraintreeOptions
  readonly providers?: readonly Provider[]
  readonly logger?: Logger
}

/** The providers of this application, and what the words in our rows mean. */
export interface Providers {
  /** In the order of preference: the first one is the default. */
  readonly all: readonly Provider[]
  /** Null for one that is not configured. */
  find(name: ProviderName): Provider | null
  /** Its gateway, made once, when it is first needed. */
  gateway(name: ProviderName): Promise<Gateway>
  /** Also of rows whose provider is no longer configured, where it is one of ours. */
  standing(name: ProviderName, status: string): Standing
  /** Every provider's words, by its name. */
  readonly statuses: ReadonlyMap<string, Statuses>
}

/** Everything that has to know which providers there are. */
export function createProviders({
  stripe,
  braintree,
  providers = [],
  logger = console,
}: ProviderOptions): Providers {
  const all = [
    ...(stripe ? [stripeProvider(stripe)] : []),
    ...(braintree ? [braintreeProvider(braintree)] : []),
    ...providers,
  ]
  const statuses = new Map<string, Statuses>(
    [STRIPE, BRAINTREE, ...all].map((each) => [each.name, each.statuses]),
  )
  const byName = new Map(all.map((each) => [each.name, each]))
  if (byName.size < all.length) throw new TypeError('providers: two of them have the same name.')
  const find = (name: ProviderName) => byName.get(name) ?? null
  return { all, find, gateway: connectOnce(find, { logger }), standing, statuses }

  function standing(name: ProviderName, status: string): Standing {
    return standingOf(statuses.get(name) ?? {}, status)
  }
}

function connectOnce(
  find: (name: ProviderName) => Provider | null,
  tools: ProviderTools,
): (name: ProviderName) => Promise<Gateway> {
  const made = new Map<ProviderName, Promise<Gateway>>()
  const connect = async (name: ProviderName) => {
    const provider = find(name)
    if (provider) return provider.connect(tools)
    throw new TypeError(`A user pays through ${name}, which is not configured`)
  }
  return (name) => {
    const known = made.get(name)
    if (known) return known
    const gateway = connect(name)
    made.set(name, gateway)
    // Whoever comes next tries again: the network may have been away.
    gateway.catch(() => made.delete(name))
    return gateway
  }
}
