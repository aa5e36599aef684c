import type { Database } from '@tollgate/database'
import {
  type DeliveryOptions,
  type DeliverySettings,
  resolveDeliveries,
} from './deliveries/delivery-options.ts'
import type { EventListeners } from './events/billing-event.ts'
import type { WorkerSettings } from './events/worker.ts'
import type { BraintreeHandlers } from './gateways/braintree/sdk/handlers.ts'
import type { BraintreeOptions } from './gateways/braintree/sdk/options.ts'
import type { Provider } from './gateways/contract/provider.ts'
import { createProviders, type Providers } from './gateways/registry.ts'
import type { StripeHandlers } from './gateways/stripe/sdk/handlers.ts'
import type { StripeOptions } from './gateways/stripe/sdk/options.ts'
import type { InvoicePdfOptions } from './invoices/pdf.ts'
import type { MailOptions } from './mail/mail-options.ts'
import type { ProviderName } from './provider-name.ts'
import { type OwnerTables, resolveOwnerTables } from './storage/owner-tables.ts'
import type { OwnerTable, UserTable } from './storage/user-table.ts'
import { findOwnAddress } from './values/arguments.ts'
import type { Clock } from './values/clock.ts'
import type { Logger } from './values/logger.ts'
import type { Owner } from './values/owner.ts'

/**
 * Methods that run in place of the default ones: without `runDefault()` no row is brought up to date, and nobody is told.
 * @example
 * const handlers: WebhookHandlers = {
 *   async handleDisputeOpened(notification, { runDefault }) {
 *     await runDefault()
 *     await tellSupport(notification.dispute)
 *   },
 * }
 */
export type WebhookHandlers = StripeHandlers & BraintreeHandlers

/** Where billing's routes are. */
export interface BillingPaths {
  /** Where Stripe sends its events. */
  readonly stripeWebhook?: string
  /** Where Braintree sends its notifications. */
  readonly braintreeWebhook?: string
  /** With `{invoice}` where the id goes. */
  readonly invoice?: string
  /** Where customers come back to from a hosted page, before they go on to `successPath`. */
  readonly checkoutReturn?: string
}

/** What a downloaded invoice says about the seller, and how it looks. */
export type InvoiceSeller = Omit<InvoicePdfOptions, 'customerDetails' | 'refunded'>

/** What a charge that is asked back through a bank does to access. */
export interface DisputeOptions {
  /**
   * `keep`: nothing. `suspend`: its subscription opens nothing until the dispute is decided. `end`: it ends when the
   * dispute is lost, at the provider too. Default `keep`.
   */
  readonly access?: 'keep' | 'suspend' | 'end'
}

/** Who gets a free trial. */
export interface TrialOptions {
  /**
   * Everybody one, ever: a second one is TrialUsed, under whatever name and wherever it would begin, and so is any after
   * `startGenericTrial()`. Default false: as often as the application asks.
   */
  readonly oncePerOwner?: boolean
}

/** What a pause does to access. */
export interface PausePolicy {
  /**
   * `keep`: nothing, as at Stripe: what nobody pays for meanwhile is given away. `suspend`: a paused subscription opens
   * nothing until it goes on, from the moment it is paused. Default `keep`.
   */
  readonly access?: 'keep' | 'suspend'
}

/** By percentage, by the customer's address, or by these rates of the provider's (`txr_…`). */
export type TaxSource = 'percentage' | 'automatic' | readonly string[]

/** The same for all: rates may differ by owner and by price. The row is the owner's. */
export type TaxOption<User = Record<string, unknown>> =
  | 'percentage'
  | 'automatic'
  | {
      /** Ids of rates, or none. */
      readonly rates: (row: User, price: string) => readonly string[] | Promise<readonly string[]>
    }

/** What billing is made of. */
export interface BillingOptions<User = Record<string, unknown>> {
  /** From `connect()` of `@tollgate/database`. */
  readonly database: Database
  /** The application's own user table. */
  readonly users: UserTable
  /** Its other tables whose rows are billed, each under the type that `billing.owner()` is called with. */
  readonly owners?: Readonly<Record<string, OwnerTable>>
  /** Keys of Stripe, where it is used. */
  readonly stripe?: StripeOptions
  /** Keys of Braintree, where it is used. */
  readonly braintree?: BraintreeOptions
  /** Providers from elsewhere, each made by its own function. */
  readonly providers?: readonly Provider[]
  /** For users who have none yet. Default: the first one that is configured, in the order above. */
  readonly defaultProvider?: ProviderName
  /** 0 to 100 with at most two decimals, for subscription charges only. Default 0. */
  readonly taxPercentage?: (user: User) => number | Promise<number>
  /**
   * How subscriptions and hosted pages are taxed: by `taxPercentage`; by the customer's address, as Stripe Tax works it
   * out; or by rates of Stripe's own for each price. Default `percentage`. Only one of them: a percentage beside another
   * is a TypeError. A user who pays where there is no such thing gets Unsupported.
   */
  readonly tax?: TaxOption<User>
  /** `handle<Event>` methods, in place of or around the default ones. */
  readonly handlers?: WebhookHandlers
  /**
   * Functions that are told what happened, by the type of event; after the row that it tells of is written, and again
   * when they throw.
   */
  readonly on?: EventListeners
  /** Addresses that are told the same by signed webhooks: applications in other languages, beside this one. */
  readonly deliveries?: DeliveryOptions
  /** Mail to customers: receipts, failed payments and others. Needs `invoice`, which says who writes. */
  readonly mail?: MailOptions
  /** Ends a subscription after so many failed charges, before the provider gives up itself. */
  readonly maxFailedCharges?: number
  /** Attempts at an event, the provider's or one of ours, before it is a dead letter. Default 12, over about 32 hours. */
  readonly webhookAttempts?: number
  /** Seconds for which a killed process keeps other operations of the same user waiting. Default 15. */
  readonly lockLease?: number
  /**
   * Seconds between looks for what is due: events and usage that wait for another attempt, or that another process has left.
   * With `false` there are none, and `process()` of each queue does it. What arrives is worked on at once in either case.
   * @default 10
   */
  readonly processEvery?: number | false
  /** Default `/stripe/webhook`, `/braintree/webhook`, `/user/invoice/{invoice}`, `/billing/checkout/return`. */
  readonly paths?: BillingPaths
  /**
   * Public base URL of the application. The requests that `authenticate` gets have this address, because
   * the `Host` header is a stranger's choice. Default `http://localhost`. Customers come back to it from
   * hosted pages, which need it.
   */
  readonly baseUrl?: string
  /**
   * Who is asking, for the invoice route and after a hosted page: a user id, another owner as `{ type, id }`, or null.
   */
  readonly authenticate?: (request: Request) => Asking | Promise<Asking>
  /**
   * Where a browser goes that opens an invoice or comes back from a hosted page and cannot be let in, such as
   * `/billing/returned`: nobody is signed in, or somebody else. Its query gets `reason`, and `return_to` to come back to.
   * Default: a small page of ours.
   */
  readonly failedPath?: string
  /** For the invoice route and for mail. */
  readonly invoice?: InvoiceSeller
  /**
   * The language of an owner, such as `de`: of mail, and of invoices and credit notes wherever they are downloaded. Null
   * for what the provider has for the customer, else `invoice.locale`, else `en`.
   */
  readonly locale?: (owner: Owner) => Spoken | Promise<Spoken>
  /** What a dispute does to access. Default: nothing; your own handlers may. */
  readonly disputes?: DisputeOptions
  /** Who gets a free trial. Default: whoever the application gives one. */
  readonly trials?: TrialOptions
  /** What a pause does to access. Default: nothing. */
  readonly pauses?: PausePolicy
  /**
   * How many codes that cannot be used an owner may try, and in how many seconds. Default 10 in an hour. All
   * processes count together.
   */
  readonly codeAttempts?: { readonly limit?: number; readonly seconds?: number }
  /** Add columns and make tables on first use. Default true. If not, first use fails until somebody else has. */
  readonly migrate?: boolean
  /**
   * The present time, for tests. The age of webhook signatures, received and sent, goes by the database's clock even
   * then. Default: the database's clock.
   */
  readonly clock?: Clock
  /** Where failures are reported that no caller waits for. Default: `console`. */
  readonly logger?: Logger
}

/** A language, or null where the application knows none. */
export type Spoken = string | null | undefined

/** Who asks for a page of billing. */
export type Asking = string | number | Owner | null

export interface ResolvedOptions {
  readonly database: Database
  /** By type; users are the first. */
  readonly owners: OwnerTables
  readonly providers: Providers
  readonly defaultProvider: ProviderName
  readonly tax: TaxOption
  readonly handlers: WebhookHandlers
  readonly on: EventListeners
  readonly deliveries: DeliverySettings
  readonly mail: MailOptions | null
  readonly maxFailedCharges: number | null
  readonly webhookAttempts: number
  readonly lockLeaseMs: number
  readonly processEverySeconds: number | null
  readonly paths: {
    /** With `{invoice}` at the end. */
    readonly invoice: string
    readonly checkoutReturn: string
    /** Whose webhooks arrive where. */
    readonly webhooks: ReadonlyMap<string, ProviderName>
  }
  readonly baseUrl: string
  /** The same, where the application has said it. */
  readonly publicUrl: string | null
  readonly authenticate: NonNullable<BillingOptions['authenticate']> | null
  /** An address of the application's own. */
  readonly failedUrl: string | null
  readonly invoice: InvoiceSeller | null
  readonly locale: BillingOptions['locale'] | null
  readonly disputes: Required<DisputeOptions>
  readonly trials: Required<TrialOptions>
  readonly pauses: Required<PausePolicy>
  readonly codeAttempts: { readonly limit: number; readonly seconds: number }
  readonly migrate: boolean
  readonly clock: Clock
  readonly logger: Logger
}

export function resolveOptions<User>(options: BillingOptions<User>): ResolvedOptions {
  const providers = createProviders(options)
  const [first] = providers.all
  if (!first) {
    throw new TypeError(
      'No provider: give stripe: { secret, webhookSecret }, braintree: { … }, or both.',
    )
  }
  if (!options.database) {
    throw new TypeError('database is missing: pass `await connect(url)` from @tollgate/database.')
  }
  const defaultProvider = options.defaultProvider ?? first.name
  if (!providers.find(defaultProvider)) {
    throw new TypeError(`defaultProvider is ${defaultProvider}, which is not configured.`)
  }
  const tax = options.taxPercentage as OwnerTable['taxPercentage']
  return {
    database: options.database,
    owners: resolveOwnerTables(
      { ...options.users, ...(tax ? { taxPercentage: tax } : {}) },
      options.owners ?? {},
    ),
    providers,
    defaultProvider,
    tax: resolveTax(options, providers.all),
    handlers: options.handlers ?? {},
    on: options.on ?? {},
    deliveries: resolveDeliveries(options.deliveries),
    mail: requireMail(options),
    maxFailedCharges: wholeNumber('maxFailedCharges', options.maxFailedCharges ?? null),
    webhookAttempts: wholeNumber('webhookAttempts', options.webhookAttempts ?? 12) ?? 12,
    lockLeaseMs: resolveLease(options.lockLease ?? 15),
    processEverySeconds: wholeNumber(
      'processEvery',
      options.processEvery === false ? null : (options.processEvery ?? 10),
    ),
    paths: resolvePaths(options.paths ?? {}, providers.all),
    baseUrl: requireUrl(options.baseUrl ?? 'http://localhost'),
    publicUrl: options.baseUrl ?? null,
    authenticate: options.authenticate ?? null,
    failedUrl: resolveFailed(options),
    invoice: options.invoice ?? null,
    locale: options.locale ?? null,
    disputes: {
      access: oneOf('disputes.access', options.disputes?.access ?? 'keep', [
        'keep',
        'suspend',
        'end',
      ]),
    },
    pauses: {
      access: oneOf('pauses.access', options.pauses?.access ?? 'keep', ['keep', 'suspend']),
    },
    trials: { oncePerOwner: options.trials?.oncePerOwner ?? false },
    codeAttempts: {
      limit: requireWhole('codeAttempts.limit', options.codeAttempts?.limit ?? 10),
      seconds: requireWhole('codeAttempts.seconds', options.codeAttempts?.seconds ?? 3600),
    },
    migrate: options.migrate ?? true,
    clock: options.clock ?? options.database.clock,
    logger: options.logger ?? console,
  }
}

function resolveTax<User>(
  { tax = 'percentage', taxPercentage, owners = {} }: BillingOptions<User>,
  providers: readonly Provider[],
): TaxOption {
  if (tax === 'percentage') return tax
  if (tax !== 'automatic' && typeof tax.rates !== 'function') {
    throw new TypeError("tax: expected 'percentage', 'automatic' or { rates }.")
  }
  const other = Object.entries(owners).find(([, table]) => table?.taxPercentage)
  if (taxPercentage || other) {
    const whose = taxPercentage ? '' : `owners.${other?.[0]}.`
    throw new TypeError(
      `tax and ${whose}taxPercentage: a bill is taxed in one way; leave one of them out.`,
    )
  }
  const part = tax === 'automatic' ? 'automaticTax' : 'lineRates'
  if (!providers.some(({ can }) => can.includes(part))) {
    throw new TypeError(`tax: no provider that is configured has ${part}.`)
  }
  return tax as TaxOption
}

function requireMail({ mail, invoice }: BillingOptions<never>): MailOptions | null {
  if (!mail) return null
  if (typeof mail.send !== 'function') throw new TypeError('mail.send: expected a function.')
  if (invoice?.vendor && invoice.product) return mail
  throw new TypeError(
    'mail needs invoice: { vendor, product }, which says who writes, and of what.',
  )
}

/** How everything is worked off that no caller waits for. */
export function workerSettings(
  { clock, logger, webhookAttempts, processEverySeconds }: ResolvedOptions,
  ready: () => Promise<void>,
): WorkerSettings {
  const attempts = webhookAttempts
  return { clock, logger, attempts, everySeconds: processEverySeconds, ready }
}

function resolveFailed({ failedPath: path, baseUrl }: BillingOptions<never>) {
  if (path === undefined) return null
  if (baseUrl === undefined) throw new TypeError('failedPath needs baseUrl, whose path it is.')
  const url = findOwnAddress(baseUrl, path)
  if (url !== null) return url
  throw new TypeError(`failedPath: '${path}' should look like '/billing/returned'.`)
}

function requireUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new TypeError(`baseUrl: '${url}' should look like 'https://app.example.com'.`)
}

function resolvePaths(
  paths: BillingPaths,
  providers: readonly Provider[],
): ResolvedOptions['paths'] {
  const { invoice = '/user/invoice/{invoice}', checkoutReturn = '/billing/checkout/return' } = paths
  const own: Readonly<Record<string, string | undefined>> = {
    stripe: paths.stripeWebhook,
    braintree: paths.braintreeWebhook,
  }
  const webhooks = new Map<string, ProviderName>()
  for (const { name, webhookPath } of providers) {
    const path = own[name] ?? webhookPath
    requirePath(`${name}Webhook`, path, /^(\/[\w-]+)+$/)
    const other = webhooks.get(path)
    if (other) throw new TypeError(`paths: ${other} and ${name} both have '${path}'.`)
    webhooks.set(path, name)
  }
  requirePath('invoice', invoice, /^(\/[\w-]+)+\/\{invoice\}$/)
  requirePath('checkoutReturn', checkoutReturn, /^(\/[\w-]+)+$/)
  return { invoice, checkoutReturn, webhooks }
}

function requirePath(name: string, path: string, shape: RegExp): void {
  if (shape.test(path)) return
  const example = name === 'invoice' ? '/user/invoice/{invoice}' : '/stripe/webhook'
  throw new TypeError(`paths.${name}: '${path}' should look like '${example}'.`)
}

function oneOf<Word extends string>(name: string, word: Word, words: readonly Word[]): Word {
  if (words.includes(word)) return word
  const quoted = words.map((each) => `'${each}'`)
  const last = quoted.pop()
  throw new TypeError(`${name}: '${word}' should be ${quoted.join(', ')} or ${last}.`)
}

function resolveLease(seconds: number): number {
  if (Number.isFinite(seconds) && seconds >= 0.1) return Math.round(seconds * 1000)
  throw new TypeError('lockLease: expected seconds, at least 0.1.')
}

function wholeNumber(name: string, value: number | null): number | null {
  return value === null ? null : requireWhole(name, value)
}

function requireWhole(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value
  throw new TypeError(`${name}: expected a whole number above 0.`)
}
