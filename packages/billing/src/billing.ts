import type { MigrateOptions, PlannedMigration } from '@tollgate/database'
import type { HttpRoutes } from '@tollgate/http'
import type { BillableOwner, BillableUser } from './billable-user.ts'
import type { AuditEvents } from './core/events/audit-events.ts'
import type { EventOutbox } from './core/events/event-stream.ts'
import type { PriceSubscriptionCount } from './core/storage/subscriptions.ts'
import type { ProviderName } from './core/values/provider-name.ts'
import type { CatalogReader } from './features/catalog/read-catalog.ts'
import type { CheckoutItem } from './features/checkout/checkout-request.ts'
import type { DisputeList, DisputeListOptions } from './features/disputes/list-disputes.ts'
import type { GuestCheckout, GuestCheckoutOptions } from './features/guest-checkout/guest.ts'
import type { FoundInvoice } from './features/invoice-search/find-invoices.ts'
import type { MailQueue } from './features/mail/notices.ts'
import type { Deliveries } from './features/outgoing-webhooks/deliveries.ts'
import type {
  SubscriptionListOptions,
  SubscriptionPage,
} from './features/subscription-list/list-subscriptions.ts'
import type { SyncOptions, SyncReport } from './features/sync/drift.ts'
import type { UsageMeters } from './features/usage/meters.ts'
import type { UsageOutbox } from './features/usage/usage-queue.ts'
import type { Endpoints } from './features/webhooks/endpoints.ts'
import type { WebhookInbox } from './features/webhooks/inbox.ts'
import type { PurgeOptions, PurgeReport, QueueReport } from './queues.ts'

/**
 * Everything billing offers an application: users and owners, the HTTP routes, the queues and
 * maintenance. Made by `createBilling()`.
 */
export interface Billing<User = Record<string, unknown>> extends HttpRoutes {
  /**
   * Finds the user with this id.
   * @throws UserNotFound if the application's table has no such user.
   * @example
   * const user = await billing.user(session.userId)
   * if (await user.subscribed('main')) showDashboard()
   */
  user(id: string | number): Promise<BillableUser<User>>
  /** Finds the user with this id. `null` if the application's table has no such user. */
  findUser(id: string | number): Promise<BillableUser<User> | null>
  /**
   * Finds the user by the id of their customer at the provider. `null` if no user has this
   * customer.
   */
  findUserByCustomer(provider: ProviderName, id: string): Promise<BillableUser<User> | null>
  /**
   * Finds an owner by its type (a key of the option `owners`) and id. `owner('user', id)` is
   * `user(id)`.
   * @throws UserNotFound if the owner's table has no such row.
   * @throws InvalidArgument if the options name no such type.
   * @example
   * const team = await billing.owner('team', 7)
   * await team.newSubscription('main', 'monthly').create(cardToken)
   */
  owner(type: string, id: string | number): Promise<BillableOwner>
  /** Finds an owner by its type and id. `null` if the owner's table has no such row. */
  findOwner(type: string, id: string | number): Promise<BillableOwner | null>
  /**
   * Finds the owner, of any type, by the id of the owner's customer at the provider. `null` if no
   * owner has this customer.
   */
  findOwnerByCustomer(provider: ProviderName, id: string): Promise<BillableOwner | null>
  /**
   * Prepares billing when the application starts: migrates the tables (or checks them, with
   * `migrate: false`), then looks for missing provider settings in the background and logs them. A
   * provider that is unavailable does not delay or fail the start.
   */
  ready(): Promise<void>
  /**
   * Adds the columns and tables of billing. Runs by itself on first use unless the option `migrate`
   * is false.
   * @throws NeedsOffline (of `@tollgate/database`) if a migration is unsafe while other processes
   * run: stop them all, and call this once with `{ offline: true }`.
   */
  migrate(options?: MigrateOptions): Promise<{ applied: string[] }>
  /**
   * Lists the migrations that `migrate()` would run, with their statements. Changes nothing.
   */
  planMigrations(): Promise<PlannedMigration[]>
  /**
   * Updates the rows of every owner to the provider's state, and reports the differences found.
   * Reads lists from the provider (one page per hundred users), and single objects only for users
   * whose rows differ.
   * @example
   * const { drift, complete } = await billing.sync({ since: new Date(Date.now() - 86_400_000) })
   */
  sync(options?: SyncOptions): Promise<SyncReport>
  /**
   * Lists the subscriptions of all owners from our rows, newest first, one page at a time. Makes no
   * request to a provider.
   * @throws InvalidArgument for an invalid filter.
   * @example
   * let page = await billing.subscriptions({ status: 'pastDue' })
   * while (page.next) page = await billing.subscriptions({ status: 'pastDue', after: page.next })
   */
  subscriptions(options?: SubscriptionListOptions): Promise<SubscriptionPage>
  /**
   * Lists the disputes (chargebacks) of all owners from our rows, newest first, one page at a time.
   * Makes no request to a provider.
   * @throws InvalidArgument for an invalid filter.
   * @example
   * const { disputes } = await billing.disputes({ status: 'open' })
   */
  disputes(options?: DisputeListOptions): Promise<DisputeList>
  /**
   * Finds invoices of all owners by the number printed on them, or by the provider's id. Sends a
   * request to every provider. At Stripe, several customers may have an invoice with the same
   * number, and the search finds a new invoice only after about a minute. At Braintree, the number
   * is the id of the payment.
   * @example
   * const [found] = await billing.findInvoices('A1B2C3-0001')
   * if (found) showPerson(found.owner.id, found.invoice.total())
   */
  findInvoices(number: string): Promise<FoundInvoice[]>
  /** The prices, coupons and promotion codes of the providers, read from them one page at a time. */
  readonly catalog: CatalogReader
  /**
   * Opens a hosted page of the provider on which a visitor without an account subscribes or pays
   * once. When the page is completed, the provider creates a customer without an owner;
   * `user.claimCheckout()` assigns it to a user. Customers are never assigned by e-mail address.
   * @throws Unsupported at Braintree, before any request is sent.
   * @example
   * const { url } = await billing.guestCheckout('monthly', { name: 'main', successPath: '/welcome', tax: 'none' })
   */
  guestCheckout(
    items: string | readonly CheckoutItem[],
    options: GuestCheckoutOptions,
  ): Promise<GuestCheckout>
  /**
   * Counts the subscriptions that were active at a moment, from our rows. Scans the whole table.
   */
  countActive(at: Date): Promise<number>
  /**
   * Counts for each price the subscriptions that have it now, as the main price or another, and that
   * have not ended. Reads our rows with one statement, which scans the whole table. Leaves out
   * prices that no subscription has.
   */
  countByPrice(): Promise<PriceSubscriptionCount[]>
  /**
   * Asks the providers which of their settings are missing or wrong. Returns one sentence for each
   * problem; an empty list means that there are none. Rejects if a provider is unavailable.
   */
  check(): Promise<string[]>
  /**
   * Outbox of billing events: lists events that were not yet delivered to the listeners of the
   * option `on`, and dead letters. Also emits an event for each change by an operator
   * (`audit.entry`).
   */
  readonly events: EventOutbox & AuditEvents
  /**
   * Outbox of usage reports: lists reports that were not sent yet or were refused, and sends
   * refused reports again. Also lists and creates the meters at the provider.
   */
  readonly usage: UsageOutbox & UsageMeters
  /** Outbox of mail to customers. `null` without the option `mail`. */
  readonly notices: MailQueue | null
  /** Outbox of signed webhooks to the application's own endpoints (the option `deliveries`). */
  readonly deliveries: Deliveries
  /** Inbox of webhooks from the providers: those not yet handled, and dead letters. */
  readonly webhooks: WebhookInbox
  /** The webhook endpoints registered at the providers: lists them, and finds missing ones. */
  readonly endpoints: Endpoints
  /**
   * Handles webhooks, reports usage, calls event listeners, and sends mail and outgoing webhooks
   * until nothing is due. For applications with `processEvery: false`, and for tests.
   */
  process(): Promise<void>
  /**
   * Deletes old rows of all queues in small batches, and returns how many were deleted from each.
   * Call it daily. Duplicate webhooks and repeated usage reports are only recognized while their
   * rows exist.
   * @example
   * const { webhooks, usage } = await billing.purge()
   */
  purge(options?: PurgeOptions): Promise<PurgeReport>
  /**
   * Counts the entries of each queue that wait, failed or were given up, and tells how late the
   * queue is. For monitoring. Reads our rows only, at most 10,000 per queue and state.
   * @example
   * const { deliveries } = await billing.countQueues()
   * if (deliveries.lateSeconds > 300) console.warn('Deliveries are late')
   */
  countQueues(): Promise<QueueReport>
  /** Whether billing has a route for this path. For servers that also serve other paths. */
  handles(path: string): boolean
  /**
   * Handles a Web-standard `Request` to one of the routes: webhooks, invoices, the return from
   * hosted pages.
   * @example
   * export default { fetch: (request: Request) => billing.fetch(request) }
   */
  fetch(request: Request): Promise<Response>
  /**
   * Stops the background work of all queues once the running jobs have finished. Does not close the
   * database.
   */
  close(): Promise<void>
}
