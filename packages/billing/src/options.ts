import type { Database } from '@tollgate/database'
import type { EventListeners } from './core/events/billing-event.ts'
import type { OwnerTable, OwnerTables, UserTable } from './core/storage/owner-tables.ts'
import type { Clock } from './core/values/clock.ts'
import type { Logger } from './core/values/logger.ts'
import { createObserveFunction, type Observer } from './core/values/observer.ts'
import type { Owner } from './core/values/owner.ts'
import type { ProviderName } from './core/values/provider-name.ts'
import type { WorkerSettings } from './core/worker.ts'
import type { BraintreeHandlers } from './providers/braintree/handlers.ts'
import type { BraintreeOptions } from './providers/braintree/options.ts'
import type { Provider } from './providers/provider.ts'
import type { ConfiguredProviders } from './providers/providers.ts'
import type { StripeHandlers } from './providers/stripe/handlers.ts'
import type { StripeOptions } from './providers/stripe/options.ts'

/**
 * Webhook handlers that replace the default ones, by method name. Unless the handler calls
 * `runDefault()`, the subscription's row is not updated and no billing events are sent.
 * @example
 * const handlers: WebhookHandlers = {
 *   async handleDisputeOpened(notification, { runDefault }) {
 *     await runDefault()
 *     await tellSupport(notification.dispute)
 *   },
 * }
 */
export type WebhookHandlers = StripeHandlers & BraintreeHandlers

/** The paths of billing's HTTP routes. */
export interface BillingPaths {
  /** Path that receives Stripe's webhooks. @default '/stripe/webhook' */
  readonly stripeWebhook?: string
  /** Path that receives Braintree's webhooks. @default '/braintree/webhook' */
  readonly braintreeWebhook?: string
  /**
   * Path of invoice downloads, ending in `{invoice}` for the invoice's id.
   * @default '/user/invoice/{invoice}'
   */
  readonly invoice?: string
  /**
   * Path to which customers return from a hosted page, before they are redirected to its
   * `successPath`.
   * @default '/billing/checkout/return'
   */
  readonly checkoutReturn?: string
}

/** How disputed charges (chargebacks) affect access. */
export interface DisputeOptions {
  /**
   * - `keep`: a dispute does not affect access.
   * - `suspend`: the subscription is not `active()` until the dispute is decided.
   * - `end`: the subscription ends, at the provider too, when the dispute is lost.
   * @default 'keep'
   */
  readonly access?: 'keep' | 'suspend' | 'end'
}

/** Rules for free trials. */
export interface TrialOptions {
  /**
   * Whether each owner gets at most one free trial, under any subscription name and at any
   * provider, including `startGenericTrial()`. A further trial throws TrialUsed. If `false`, the
   * application decides.
   * @default false
   */
  readonly oncePerOwner?: boolean
}

/** How pausing a subscription affects access. */
export interface PausePolicy {
  /**
   * - `keep`: a paused subscription stays `active()`, as at Stripe, although it is not paid for.
   * - `suspend`: a paused subscription is not `active()` until it continues.
   * @default 'keep'
   */
  readonly access?: 'keep' | 'suspend'
}

/**
 * How an amount is taxed: by a percentage, by the customer's address, or by tax rates of the
 * provider (`txr_…` ids).
 */
export type TaxSource = 'percentage' | 'automatic' | readonly string[]

/** How all amounts are taxed. With `rates`, the tax rates can differ by owner and price. */
export type TaxOption<User = Record<string, unknown>> =
  | 'percentage'
  | 'automatic'
  | {
      /**
       * Returns the ids of the provider's tax rates for a price, or none. `row` is the owner's row.
       */
      readonly rates: (row: User, price: string) => readonly string[] | Promise<readonly string[]>
    }

/** Options of `createBilling()`. Features add their own. */
export interface BillingOptions<User = Record<string, unknown>> {
  /** The database, from `connect()` of `@tollgate/database`. */
  readonly database: Database
  /** The application's own user table. */
  readonly users: UserTable
  /**
   * Other tables of the application whose rows are billed, such as teams, by the type that
   * `billing.owner()` takes.
   */
  readonly owners?: Readonly<Record<string, OwnerTable>>
  /** API keys and settings of Stripe. Leave out if Stripe is not used. */
  readonly stripe?: StripeOptions
  /** API keys and settings of Braintree. Leave out if Braintree is not used. */
  readonly braintree?: BraintreeOptions
  /** Other providers, each made by a function of its package. */
  readonly providers?: readonly Provider[]
  /**
   * The provider of users who have not paid yet.
   * @default the first configured one: Stripe, Braintree, then `providers`.
   */
  readonly defaultProvider?: ProviderName
  /**
   * Tax percentage of subscription charges, from 0 to 100 with at most two decimals.
   * @default 0
   */
  readonly taxPercentage?: (user: User) => number | Promise<number>
  /**
   * How subscriptions and hosted pages are taxed: `'percentage'` uses `taxPercentage`,
   * `'automatic'` lets Stripe Tax calculate it from the customer's address, and `{ rates }` uses
   * tax rates of Stripe for each price. For users of a provider without that kind of tax, the call
   * throws Unsupported.
   * @throws TypeError at start-up if `taxPercentage` is given together with another kind.
   * @default 'percentage'
   */
  readonly tax?: TaxOption<User>
  /** Webhook handlers (`handle<Event>` methods) that replace or wrap the default ones. */
  readonly handlers?: WebhookHandlers
  /**
   * Functions that are called with billing events, by event type. Called after the change was
   * written to the database, and called again if they throw: make them idempotent.
   */
  readonly on?: EventListeners
  /**
   * Number of failed charges after which a subscription is cancelled, possibly before the provider
   * stops retrying. Unset: the provider decides.
   */
  readonly maxFailedCharges?: number
  /**
   * How often a webhook or billing event is attempted before it becomes a dead letter.
   * @default 12, spread over about 32 hours
   */
  readonly webhookAttempts?: number
  /**
   * Seconds after which the lock of a killed process expires. Until then, other operations of the
   * same user wait.
   * @default 15
   */
  readonly lockLease?: number
  /**
   * Seconds between checks for due work: events and usage that await a retry or were left by
   * another process. `false` turns the checks off; call `billing.process()` instead. New work is
   * started immediately in either case.
   * @default 10
   */
  readonly processEvery?: number | false
  /** Paths of billing's HTTP routes. Paths that are left out keep their default. */
  readonly paths?: BillingPaths
  /**
   * Public base URL of the application. Customers return to it from hosted pages, which require it.
   * Requests passed to `authenticate` have this URL, because clients choose the `Host` header.
   * @default 'http://localhost'
   */
  readonly baseUrl?: string
  /**
   * Identifies the signed-in owner of a request to download an invoice or to return from a hosted
   * page. Returns a user id, another owner as `{ type, id }`, or `null` if no owner is signed in.
   */
  readonly authenticate?: (request: Request) => SignedInOwner | Promise<SignedInOwner>
  /**
   * Path of the application, such as `/billing/returned`, to which a browser is redirected when it
   * cannot open an invoice or return from a hosted page, for example because the wrong account is
   * signed in. The query contains `reason`, and `return_to` with the original path.
   * @default a small built-in page
   */
  readonly failedPath?: string
  /**
   * Returns the language of an owner, such as `de`, for mail, invoices and credit notes. If it
   * returns `null`, the language of the provider's customer is used, then `invoice.locale`, then
   * `en`.
   */
  readonly locale?: (owner: Owner) => OwnerLocale | Promise<OwnerLocale>
  /** How disputes affect access. By default, disputes do not affect access. */
  readonly disputes?: DisputeOptions
  /** Rules for free trials. By default the application decides who gets one. */
  readonly trials?: TrialOptions
  /** How pausing affects access. By default, pausing does not affect access. */
  readonly pauses?: PausePolicy
  /**
   * Rate limit for unsuccessful attempts to use a promotion code: at most `limit` per owner in
   * `seconds`, counted across all processes.
   * @default 10 per hour
   */
  readonly codeAttempts?: { readonly limit?: number; readonly seconds?: number }
  /**
   * Whether to create or migrate the tables on first use. If `false`, call `billing.migrate()`
   * first; until then every call fails.
   * @default true
   */
  readonly migrate?: boolean
  /**
   * Source of the current time, for tests. The age of webhook signatures is always measured by the
   * database's clock.
   * @default the database's clock
   */
  readonly clock?: Clock
  /** Receives errors of background work, which no caller sees. @default console */
  readonly logger?: Logger
  /**
   * Called for each request to a provider and each background job, for logs, metrics and traces.
   * @example
   * observe: async (work, run) => {
   *   const start = performance.now()
   *   const response = await run()
   *   console.log(work, response?.requestId, performance.now() - start)
   * }
   */
  readonly observe?: Observer
}

/** A language such as `de`. `null` or `undefined` if the application does not know the language. */
export type OwnerLocale = string | null | undefined

/** The owner who made a request: a user id, another owner, or `null` if no owner is signed in. */
export type SignedInOwner = string | number | Owner | null

/** The checked options, with defaults. Features add their own. */
export interface ResolvedOptions {
  readonly database: Database
  /** Tables of the owners by type, users first. */
  readonly owners: OwnerTables
  readonly providers: ConfiguredProviders
  readonly defaultProvider: ProviderName
  readonly tax: TaxOption
  readonly handlers: WebhookHandlers
  readonly on: EventListeners
  readonly maxFailedCharges: number | null
  readonly webhookAttempts: number
  readonly lockLeaseMs: number
  readonly processEverySeconds: number | null
  readonly paths: {
    /** Ends in `{invoice}`. */
    readonly invoice: string
    readonly checkoutReturn: string
    /** Webhook paths, each with the provider that sends to it. */
    readonly webhooks: ReadonlyMap<string, ProviderName>
  }
  readonly baseUrl: string
  /** The option `baseUrl`. `null` if the application has not set it. */
  readonly publicUrl: string | null
  readonly authenticate: NonNullable<BillingOptions['authenticate']> | null
  /** Absolute URL of the option `failedPath`. `null` if the application has not set it. */
  readonly failedUrl: string | null
  readonly locale: BillingOptions['locale'] | null
  readonly disputes: Required<DisputeOptions>
  readonly trials: Required<TrialOptions>
  readonly pauses: Required<PausePolicy>
  readonly codeAttempts: { readonly limit: number; readonly seconds: number }
  readonly migrate: boolean
  readonly clock: Clock
  readonly logger: Logger
  readonly observe: Observer | null
}

/**
 * Returns the settings of the background workers for webhooks, usage, events and outgoing webhooks.
 */
export function createWorkerSettings(
  { clock, logger, webhookAttempts, processEverySeconds, observe }: ResolvedOptions,
  ready: () => Promise<void>,
): WorkerSettings {
  return {
    clock,
    logger,
    attempts: webhookAttempts,
    everySeconds: processEverySeconds,
    ready,
    ...(observe && { observe: createObserveFunction(observe, logger) }),
  }
}
