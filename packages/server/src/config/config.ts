import type { BraintreeSettings, StripeSettings } from '@tollgate/billing'
import type { Settings } from './settings.ts'
import type { Variables } from './variables.ts'

export type Mode = 'demo' | 'production'

/** The environment, read once. */
export interface Config {
  /** `demo` brings its own providers, secret, user and clients; `production` has none of these. */
  readonly mode: Mode
  readonly host: string
  readonly port: number
  /** Public base URL; null where the port decides it, in a demo on a free port. */
  readonly url: string | null
  readonly databaseUrl: string
  /** Where a demo keeps its secret, its database and the sandbox. */
  readonly dataDir: string
  /** The first is used; the others are known while it is being changed. */
  readonly secrets: readonly string[]
  readonly stripe: StripeSettings | null
  /** For Stripe's script on the billing page. */
  readonly stripePublishableKey: string | null
  readonly braintree: (BraintreeSettings & { readonly apiUrl: string | null }) | null
  /** Only these may say whom they forward for. */
  readonly trustedProxies: readonly string[]
  readonly metricsToken: string | null
  readonly logLevel: NonNullable<Variables['TOLLGATE_LOG_LEVEL']>
  /** How long, when told to end, it goes on serving while `/readyz` already says 503. */
  readonly drainSeconds: number
  /** Of the sandbox's control room; null: the port after the service's own. */
  readonly sandboxPort: number | null
  readonly settings: Settings
  /** What looks wrong and stops nothing. */
  readonly warnings: readonly string[]
}

/** What a command cannot work without. */
export type Need = 'secret' | 'url' | 'providers'
