import type { BraintreeSettings, DeliveryOptions, StripeSettings } from '@tollgate/billing'
import type { ConfiguredProvider } from '../upstream/providers/kinds.ts'
import type { LogLevels } from './log-level.ts'
import type { Mode } from './row.ts'
import type { SelfRegisteredSettings, Settings } from './settings.ts'
import type { LogLevel, MailAddress, SmtpAddress } from './values.ts'

/** Settings for clients that register themselves, with the initial access tokens. */
export interface SelfRegistered extends SelfRegisteredSettings {
  /** Tokens that allow registering a client under the policy `initial-access-token`. */
  readonly initialAccessTokens: readonly string[]
}

/** A mail server, and the sender of the mail. */
export interface SmtpSettings extends SmtpAddress {
  /**
   * Whether mail is sent only over an encrypted connection whose certificate is trusted. If
   * `false`, TLS is not used at all, except with `smtps:`.
   */
  readonly needsTls: boolean
  /** The sender of all mail. */
  readonly from: MailAddress
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
  /**
   * How many worker processes `tollgate serve` starts. `auto` starts one per processor core. If
   * `null`, the process of the command serves requests itself.
   */
  readonly workers: number | 'auto' | null
  /**
   * Public base URL. `null` in a demo that listens on a free port, because the URL then depends on
   * the port.
   */
  readonly url: string | null
  /** URL of the database: `sqlite:…`, `postgres://…` or `mysql://…`. */
  readonly databaseUrl: string
  /** Folder where a demo keeps its secret, its database and the state of the sandbox. */
  readonly dataDir: string
  /**
   * Secrets that protect keys, tokens and cookies. The first secret is used for new ones; the
   * others are only accepted, so that secrets can be rotated.
   */
  readonly secrets: readonly string[]
  /**
   * Salt for pairwise subjects, which give each client a different id for the same user. It must
   * never change. `null` if it is not configured; clients with pairwise subjects are then rejected.
   */
  readonly pairwiseSalt: string | null
  /** Settings for clients that register themselves, from the settings and the environment. */
  readonly selfRegistered: SelfRegistered
  /** The other providers that people can sign in with, with their secrets. */
  readonly signInWith: readonly ConfiguredProvider[]
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
  /**
   * The mail server of the environment. `null` if there is none: a demo then uses the sandbox's
   * mailbox, and production sends no mail unless the setting `mail` has `send`.
   */
  readonly smtp: SmtpSettings | null
  /** Proxies (addresses or networks) whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
  /**
   * Bearer token that `/metrics` requires. If `null`, `/metrics` can be read only from this
   * machine.
   */
  readonly metricsToken: string | null
  /** Lowest level that is logged. */
  readonly logLevel: LogLevel
  /** Levels of single areas of the log, instead of `logLevel`. */
  readonly logAreas: LogLevels['areas']
  /** Seconds to keep serving after a termination signal, while `/readyz` returns 503. */
  readonly drainSeconds: number
  /** Seconds to wait at start-up for a database that is unavailable. */
  readonly databaseWaitSeconds: number
  /**
   * Largest allowed difference, in seconds, between the clocks of this machine and the database.
   * Above it, this process issues no tokens.
   */
  readonly maxClockSkewSeconds: number
  /**
   * Port of the sandbox's control room, a page that controls the sandbox. `null` for the port after
   * the service's, if it is free.
   */
  readonly sandboxPort: number | null
  /** The settings of `tollgate.config.ts`, with overrides from the environment. */
  readonly settings: Settings
  /** Names of the environment variables that are set. */
  readonly given: ReadonlySet<string>
  /** Warnings about the configuration that do not stop the service, such as a misspelt variable. */
  readonly warnings: readonly string[]
}

/**
 * A part of the configuration that a command requires. `providers` includes the keys and webhook
 * secrets of the payment providers, `provider_keys` only their keys.
 */
export type Need = 'secret' | 'url' | 'providers' | 'provider_keys'
