import type { ProviderName } from '../core/values/provider-name.ts'
import type { StandingsByStatus, SubscriptionStanding } from '../core/values/subscription-state.ts'
import type { Gateway } from './gateway.ts'
import type { Provider } from './provider.ts'

/** The configured providers, and the meaning of the statuses in our database rows. */
export interface ConfiguredProviders {
  /** The providers in order of preference. The first one is the default. */
  readonly all: readonly Provider[]
  /** Finds a provider by its name. `null` if it is not configured. */
  find(name: ProviderName): Provider | null
  /** Returns a provider's gateway, which is created on first use. */
  gateway(name: ProviderName): Promise<Gateway>
  /**
   * Returns the meaning of a status. Also works for built-in providers that are no longer
   * configured.
   */
  standing(name: ProviderName, status: string): SubscriptionStanding
  /** The statuses of each provider, by its name. */
  readonly statuses: ReadonlyMap<string, StandingsByStatus>
}
