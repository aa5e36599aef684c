import type { BraintreeSettings, DeliveryOptions, StripeSettings } from '@tollgate/billing'
import type { Settings } from './settings.ts'
import type { SelfRegisteredSettings } from './standards.ts'

/** Whether everything is made up for somebody who tries it, or nothing is. */
export type Mode = 'demo' | 'production'

/** Clients that register themselves, and the tokens that some need for it. */
export interface SelfRegistered extends SelfRegisteredSettings {
  /** Who has one of these may register a client, where the policy is `initial-access-token`. */
  readonly initialAccessTokens: readonly string[]
}

/** The environment, read once. */
export interface Config {
  /** `demo` brings its own providers, secret, user and clients; `production` has none of these. */
  readonly mode: Mode
  /** The address to listen on. */
  readonly host: string
  /** The port to listen on; 0 takes a free one. */
  readonly port: number
  /** Public base URL; null where the port decides it, in a demo on a free port. */
  readonly url: string | null
  /** `sqlite:…`, `postgres://…` or `mysql://…`. */
  readonly databaseUrl: string
  /** Where a demo keeps its secret, its database and the sandbox. */
  readonly dataDir: string
  /** The first is used; the others are known while it is being changed. */
  readonly secrets: readonly string[]
  /** With it clients can know people by names that no other client knows; null: they cannot. It never changes. */
  readonly pairwiseSalt: string | null
  /** Clients that register themselves: what the settings and the environment say together. */
  readonly selfRegistered: SelfRegistered
  /** Keys of Stripe; null where it is not used. */
  readonly stripe: StripeSettings | null
  /** For Stripe's script on the billing page. */
  readonly stripePublishableKey: string | null
  /**
   * Keys of Braintree; null where it is not used. `apiUrl` is for another host than Braintree's
   * own.
   */
  readonly braintree: (BraintreeSettings & { readonly apiUrl: string | null }) | null
  /** Where events of billing are sent: what the settings and the environment say together. */
  readonly deliveries: DeliveryOptions
  /** Only these may say whom they forward for. */
  readonly trustedProxies: readonly string[]
  /** Who sends it as a bearer token may read `/metrics`; null leaves that to this machine. */
  readonly metricsToken: string | null
  /** The least important lines that are written. */
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent'
  /** How long, when told to end, it goes on serving while `/readyz` already says 503. */
  readonly drainSeconds: number
  /** How many seconds the service waits at start for a database that is away. */
  readonly databaseWaitSeconds: number
  /** Seconds by which the clock of this process and the database's may differ before it stops issuing. */
  readonly maxClockSkewSeconds: number
  /** Of the sandbox's control room; null: the port after the service's own. */
  readonly sandboxPort: number | null
  /** What the configuration file says. */
  readonly settings: Settings
  /** What looks wrong and stops nothing. */
  readonly warnings: readonly string[]
}

/** What a command cannot work without. `provider_keys` asks the providers and receives nothing from them. */
export type Need = 'secret' | 'url' | 'providers' | 'provider_keys'
