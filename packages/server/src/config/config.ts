import type { BraintreeSettings, DeliveryOptions, StripeSettings } from '@tollgate/billing'
import type { Mode } from './row.ts'
import type { SelfRegisteredSettings, Settings } from './settings.ts'
import type { LogLevel } from './values.ts'

/** Settings for clients that register themselves, with the tokens that some need for it. */
export interface SelfRegistered extends SelfRegisteredSettings {
  /** Tokens that allow registering a client under the policy `initial-access-token`. */
  readonly initialAccessTokens: readonly string[]
}

/** The configuration: environment variables and `tollgate.config.ts` combined. */
export interface Config {
  /**
   * `demo` starts its own payment sandbox and creates a secret, a user and clients; `production`
   * creates none of these.
   */
  readonly mode: Mode
  /** Network interface (address or host name) to listen on. */
  readonly host: string
  /** Port to listen on. 0 picks a free one. */
  readonly port: number
  /** Public base URL. `null` in a demo on a free port, where the port decides it. */
  readonly url: string | null
  /** URL of the database: `sqlite:…`, `postgres://…` or `mysql://…`. */
  readonly databaseUrl: string
  /** Folder where a demo keeps its secret, its database and the state of the sandbox. */
  readonly dataDir: string
  /**
   * Secrets that protect keys, tokens and cookies. The first is used; the others are accepted
   * during a rotation.
   */
  readonly secrets: readonly string[]
  /**
   * Salt for pairwise subjects, with which no two clients know a person by the same id. `null`:
   * pairwise clients are rejected. It must never change.
   */
  readonly pairwiseSalt: string | null
  /** Settings for clients that register themselves, from the settings and the environment. */
  readonly selfRegistered: SelfRegistered
  /** Settings and keys of Stripe. `null` if Stripe is not used. */
  readonly stripe: StripeSettings | null
  /** Stripe's publishable key, for its script on the billing page. `null` if there is none. */
  readonly stripePublishableKey: string | null
  /**
   * Settings and keys of Braintree. `null` if Braintree is not used. `apiUrl` is set only for a
   * host other than Braintree's own.
   */
  readonly braintree: (BraintreeSettings & { readonly apiUrl: string | null }) | null
  /** Endpoints for outgoing billing events, from the settings and the environment. */
  readonly deliveries: DeliveryOptions
  /** Proxies (addresses or networks) whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
  /** Bearer token for `/metrics`. `null`: only programs on this machine may read it. */
  readonly metricsToken: string | null
  /** Lowest level that is logged. */
  readonly logLevel: LogLevel
  /** Seconds to keep serving after a termination signal, while `/readyz` returns 503. */
  readonly drainSeconds: number
  /** Seconds to wait at start-up for a database that is unavailable. */
  readonly databaseWaitSeconds: number
  /**
   * Largest difference in seconds between this machine's clock and the database's. Beyond it the
   * process issues no tokens.
   */
  readonly maxClockSkewSeconds: number
  /** Port of the sandbox's control room. `null`: the next port after the service's, if it is free. */
  readonly sandboxPort: number | null
  /** The settings of `tollgate.config.ts`, with overrides from the environment. */
  readonly settings: Settings
  /** Names of the environment variables that are set. */
  readonly given: ReadonlySet<string>
  /** Mistakes that do not stop the service, such as a misspelt variable. */
  readonly warnings: readonly string[]
}

/**
 * A part of the configuration that a command requires. `provider_keys` means that the command calls
 * the providers but receives no events from them.
 */
export type Need = 'secret' | 'url' | 'providers' | 'provider_keys'
