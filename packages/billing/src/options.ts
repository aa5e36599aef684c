import type { Database } from '@tollgate/database'
import type braintree from 'braintree'
import type Stripe from 'stripe'
import type { ProviderName } from './errors.ts'
import { type Clock, systemClock } from './values/clock.ts'
import type { Logger } from './values/logger.ts'
import type { WebhookHandlers } from './webhooks/handlers.ts'

export interface UserTable {
  /** The application's own table of users. */
  readonly table: string
  /** Its primary key. Default `id`. */
  readonly id?: string
  /** Type of that key. Default `integer`. */
  readonly idType?: 'integer' | 'string'
  /** The column with the e-mail address a customer gets. Default `email`; it may be missing. */
  readonly email?: string
  /** The column with the name a customer gets. Default `name`; it may be missing. */
  readonly name?: string
}

export interface StripeOptions {
  /** The API secret key. An environment variable that is missing is refused in words, as the others are. */
  readonly secret: string | undefined
  /** From the webhook endpoint's page; several while one is being rolled. */
  readonly webhookSecret: string | readonly string[] | undefined
  /** Of `charge(1999)` and `invoiceFor()` with a plain number. Default `usd`. */
  readonly currency?: string
  /** Ids of the prices that are sold. Others are refused before any call, and `check()` looks for these. */
  readonly plans?: readonly string[]
  /** Passed to `new Stripe()`: host and port of the sandbox, proxies, timeouts. */
  readonly config?: Stripe.StripeConfig
}

export interface BraintreeOptions {
  /** `sandbox`, `production`, or an Environment of the SDK. */
  readonly environment: 'sandbox' | 'production' | braintree.Environment
  readonly merchantId: string | undefined
  readonly publicKey: string | undefined
  readonly privateKey: string | undefined
  /** The merchant account's currency. Default `usd`. */
  readonly currency?: string
  /** Ids of the plans that are sold. Others are refused before any call, and `check()` looks for these. */
  readonly plans?: readonly string[]
  /** The discount made in the control panel for changes of frequency. Default `plan-credit`. */
  readonly planCredit?: string
  /** The custom field made in the control panel for `invoiceFor`. Default `description`. */
  readonly descriptionField?: string
  /** Milliseconds a call may take. Default 30000. */
  readonly timeout?: number
}

type Checked<Options, Names extends keyof Options> = Options & {
  readonly [Name in Names]: Exclude<Options[Name], undefined>
}

/** With nothing missing. */
export type StripeSettings = Checked<StripeOptions, 'secret' | 'webhookSecret'>
export type BraintreeSettings = Checked<BraintreeOptions, 'merchantId' | 'publicKey' | 'privateKey'>

export interface BillingPaths {
  readonly stripeWebhook?: string
  readonly braintreeWebhook?: string
  /** With `{invoice}` where the id goes. */
  readonly invoice?: string
}

/** What a downloaded invoice says about the seller. */
export interface InvoiceSeller {
  readonly vendor: string
  readonly product: string
}

export interface BillingOptions<User = Record<string, unknown>> {
  /** From `connect()` of `@tollgate/database`. */
  readonly database: Database
  readonly users: UserTable
  readonly stripe?: StripeOptions
  readonly braintree?: BraintreeOptions
  /** For users who have none yet. Default: the one that is configured, Stripe if both are. */
  readonly defaultProvider?: ProviderName
  /** 0 to 100 with at most two decimals, for subscription charges only. Default 0. */
  readonly taxPercentage?: (user: User) => number | Promise<number>
  /** `handle<Event>` methods, in place of or around the default ones. */
  readonly handlers?: WebhookHandlers
  /** Ends a subscription after so many failed charges, before the provider gives up itself. */
  readonly maxFailedCharges?: number
  /** Webhook attempts before an event is a dead letter. Default 12, over about two days. */
  readonly webhookAttempts?: number
  /** Seconds for which a killed process keeps other operations of the same user waiting. Default 15. */
  readonly lockLease?: number
  /** Seconds between looks at the inbox for events that are due again. Default 10; false: never. */
  readonly processEvery?: number | false
  /** Default `/stripe/webhook`, `/braintree/webhook`, `/user/invoice/{invoice}`. */
  readonly paths?: BillingPaths
  /** Who is asking, for the invoice route: a user id, or null. */
  readonly authenticate?: (
    request: Request,
  ) => string | number | null | Promise<string | number | null>
  /** For the invoice route. */
  readonly invoice?: InvoiceSeller
  /** Add columns and make tables on first use. Default true. */
  readonly migrate?: boolean
  /** Where "now" comes from. Default: the system clock. */
  readonly clock?: Clock
  /** Where failures nobody can be told of go. Default: `console`. */
  readonly logger?: Logger
}

export interface ResolvedOptions {
  readonly database: Database
  readonly users: Required<UserTable>
  readonly stripe: StripeSettings | null
  readonly braintree: BraintreeSettings | null
  readonly defaultProvider: ProviderName
  readonly taxPercentage: (user: Record<string, unknown>) => number | Promise<number>
  readonly handlers: WebhookHandlers
  readonly maxFailedCharges: number | null
  readonly webhookAttempts: number
  readonly lockLeaseMs: number
  readonly processEverySeconds: number | null
  readonly paths: Required<BillingPaths>
  readonly authenticate: NonNullable<BillingOptions['authenticate']> | null
  readonly invoice: InvoiceSeller | null
  readonly migrate: boolean
  readonly clock: Clock
  readonly logger: Logger
}

export function resolveOptions<User>(options: BillingOptions<User>): ResolvedOptions {
  const { stripe = null, braintree = null } = options
  if (!stripe && !braintree) {
    throw new TypeError(
      'No provider: give stripe: { secret, webhookSecret }, braintree: { … }, or both.',
    )
  }
  if (stripe) checkStripe(stripe)
  if (braintree) checkBraintree(braintree)
  if (!options.database) {
    throw new TypeError(
      "database is missing: pass `await connect('sqlite:app.db')` from @tollgate/database.",
    )
  }
  const defaultProvider = options.defaultProvider ?? (stripe ? 'stripe' : 'braintree')
  if (!(defaultProvider === 'stripe' ? stripe : braintree)) {
    throw new TypeError(`defaultProvider is ${defaultProvider}, which is not configured.`)
  }
  return {
    database: options.database,
    users: resolveUsers(options.users),
    stripe,
    braintree,
    defaultProvider,
    taxPercentage: (options.taxPercentage ?? (() => 0)) as ResolvedOptions['taxPercentage'],
    handlers: options.handlers ?? {},
    maxFailedCharges: wholeNumber('maxFailedCharges', options.maxFailedCharges ?? null),
    webhookAttempts: wholeNumber('webhookAttempts', options.webhookAttempts ?? 12) ?? 12,
    lockLeaseMs: resolveLease(options.lockLease ?? 15),
    processEverySeconds: wholeNumber(
      'processEvery',
      options.processEvery === false ? null : (options.processEvery ?? 10),
    ),
    paths: resolvePaths(options.paths ?? {}),
    authenticate: options.authenticate ?? null,
    invoice: options.invoice ?? null,
    migrate: options.migrate ?? true,
    clock: options.clock ?? systemClock,
    logger: options.logger ?? console,
  }
}

/** Messages never repeat a value: it may be a key with a blank at its end. */
function checkStripe(options: StripeOptions): asserts options is StripeSettings {
  const { secret, webhookSecret } = options
  requireSecret('stripe.secret', secret)
  const secrets = typeof webhookSecret === 'string' ? [webhookSecret] : (webhookSecret ?? [])
  if (secrets.length === 0) requireSecret('stripe.webhookSecret', undefined)
  for (const each of secrets) requireSecret('stripe.webhookSecret', each)
}

function checkBraintree(options: BraintreeOptions): asserts options is BraintreeSettings {
  requireSecret('braintree.merchantId', options.merchantId)
  requireSecret('braintree.publicKey', options.publicKey)
  requireSecret('braintree.privateKey', options.privateKey)
  const { environment } = options
  if (
    environment !== 'sandbox' &&
    environment !== 'production' &&
    typeof environment !== 'object'
  ) {
    throw new TypeError("braintree.environment: expected 'sandbox' or 'production'.")
  }
}

function requireSecret(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '' && value === value.trim()) return
  throw new TypeError(`${name} is missing, blank or has blanks around it.`)
}

function resolveUsers(users: UserTable | undefined): Required<UserTable> {
  if (!users || !/^\w+$/.test(users.table ?? '')) {
    throw new TypeError("users.table: name the application's user table, e.g. { table: 'users' }.")
  }
  return { id: 'id', idType: 'integer', email: 'email', name: 'name', ...users }
}

function resolvePaths(paths: BillingPaths): Required<BillingPaths> {
  const all = {
    stripeWebhook: '/stripe/webhook',
    braintreeWebhook: '/braintree/webhook',
    invoice: '/user/invoice/{invoice}',
    ...paths,
  }
  for (const [name, path] of Object.entries(all)) {
    if (!/^(\/[\w-]+)+(\/\{invoice\})?$/.test(path)) {
      throw new TypeError(`paths.${name}: '${path}' should look like '/stripe/webhook'.`)
    }
  }
  if (!all.invoice.endsWith('/{invoice}')) {
    throw new TypeError("paths.invoice should end with '/{invoice}'.")
  }
  return all
}

function resolveLease(seconds: number): number {
  if (Number.isFinite(seconds) && seconds >= 0.1) return Math.round(seconds * 1000)
  throw new TypeError('lockLease: expected seconds, at least 0.1.')
}

function wholeNumber(name: string, value: number | null): number | null {
  if (value === null || (Number.isInteger(value) && value > 0)) return value
  throw new TypeError(`${name}: expected a whole number above 0.`)
}
