import type { MigrateOptions } from '@tollgate/database'
import type { HttpRoutes } from '@tollgate/http'
import type { SyncOptions, SyncReport } from './consistency/sync/drift.ts'
import type { Deliveries } from './deliveries/deliveries.ts'
import type { EventOutbox } from './events/event-stream.ts'
import type { Notices } from './notices/notices.ts'
import type { ProviderName } from './provider-name.ts'
import type { Meters } from './usage/meters.ts'
import type { UsageOutbox } from './usage/usage-outbox.ts'
import type { BillableOwner, BillableUser } from './users/billable-user.ts'
import type { Endpoints } from './webhooks/endpoints.ts'
import type { WebhookInbox } from './webhooks/inbox.ts'

/** The entry object. */
export interface Billing<User = Record<string, unknown>> extends HttpRoutes {
  /** The user with that id, or UserNotFound. */
  user(id: string | number): Promise<BillableUser<User>>
  /** The user with this id; null when the application has none. */
  findUser(id: string | number): Promise<BillableUser<User> | null>
  /** The user a provider's customer belongs to. */
  findUserByCustomer(provider: ProviderName, id: string): Promise<BillableUser<User> | null>
  /**
   * Whoever is billed, by a type of the option `owners` and an id, or UserNotFound. `owner('user', id)` is
   * `user(id)`.
   * @example
   * const team = await billing.owner('team', 7)
   * await team.newSubscription('main', 'monthly').create(cardToken)
   */
  owner(type: string, id: string | number): Promise<BillableOwner>
  /** The same; null when the application has none. */
  findOwner(type: string, id: string | number): Promise<BillableOwner | null>
  /** Whoever a provider's customer belongs to. */
  findOwnerByCustomer(provider: ProviderName, id: string): Promise<BillableOwner | null>
  /**
   * For the start of the application: migrates, and then looks in the background for what is missing at
   * the providers. That is logged; a provider that is away for a moment stops nobody.
   */
  ready(): Promise<void>
  /**
   * Adds the columns and tables; done on first use unless `migrate` is false. A step that cannot be done beside
   * older processes fails with `NeedsOffline` of `@tollgate/database`: stop them all, and call this once with
   * `{ offline: true }`.
   */
  migrate(options?: MigrateOptions): Promise<{ applied: string[] }>
  /**
   * Brings the rows of every user and other owner to the provider's state, and reports what was different. Reads lists of the
   * provider, a page for a hundred users, and those users alone who differ.
   * @example
   * const { drift, complete } = await billing.sync({ since: new Date(Date.now() - 86_400_000) })
   */
  sync(options?: SyncOptions): Promise<SyncReport>
  /** How many subscriptions were active at that moment, by our rows. Looks at all of them. */
  countActive(at: Date): Promise<number>
  /** What is missing at the providers, in words; empty when all is well. */
  check(): Promise<string[]>
  /** Events of ours on their way to the application, and those given up on. */
  readonly events: EventOutbox
  /** What was used, on its way to the provider, and what is counted there. */
  readonly usage: UsageOutbox & Meters
  /** Mail on its way out; null without the option `mail`. */
  readonly notices: Notices | null
  /** The same on their way to addresses of the application, as signed webhooks. */
  readonly deliveries: Deliveries
  /** Events on their way in, and those given up on. */
  readonly webhooks: WebhookInbox
  /** The addresses that providers send events to: what is registered there, and what is missing. */
  readonly endpoints: Endpoints
  /** Deletes events that were done before, in small batches. */
  purgeWebhooks(before: Date): Promise<number>
  /** Forgets how many codes were tried, where the time for that is over. Says of how many owners. */
  purgeCodeAttempts(): Promise<number>
  /**
   * Deletes mail that went out, was given up or of which nobody knows since before then, and says how many. Keep it for
   * as long as events: what is told again would be mailed again.
   */
  purgeNotices(before: Date): Promise<number>
  /** Whether a path is one of ours, for frameworks that serve other things beside. */
  handles(path: string): boolean
  /** The routes as one Web-standard handler. */
  fetch(request: Request): Promise<Response>
  /** Stops looking at the inbox, after what is under way. The database stays open. */
  close(): Promise<void>
}
