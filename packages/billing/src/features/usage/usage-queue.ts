import type { Database } from '@tollgate/database'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { QueueWorker } from '../../core/worker.ts'
import type { DroppedReport } from './contract.ts'
import type {
  NewUsage,
  StoredUsage,
  UnbilledUsage,
  UsageReporter,
  WaitingUsage,
} from './usage-rows.ts'

/** The queue of usage reports that are on their way to the provider. */
export interface UsageOutbox {
  /** Lists usage reports that the provider does not have yet. `limit` defaults to 100. */
  pending(limit?: number): Promise<StoredUsage[]>
  /**
   * Lists usage reports that were refused, and are therefore not billed. `limit` defaults to 100.
   */
  refused(limit?: number): Promise<StoredUsage[]>
  /**
   * Sends a refused usage report again. Returns `false` if there is no refused report with this id.
   * A report is also refused if the outcome of sending it stayed unknown: check first that the
   * provider has not counted it.
   */
  retry(id: number): Promise<boolean>
}

/** The queue of usage reports, with the methods that other parts of billing use. */
export interface UsageQueue extends UsageOutbox {
  /** Sends all usage reports that are due, and charges due usage that billing itself counts. */
  process(): Promise<void>
  /**
   * Deletes usage reports that were finished before this time, and returns their number.
   * Afterwards, reports with the same ids would count again.
   */
  purge(before: Date): Promise<number>
  /**
   * Stores a usage report, which is sent afterwards. Returns `false` if there is already one with
   * the same customer and reference.
   */
  add(usage: NewUsage, tx: Database | null): Promise<boolean>
  find(by: UsageReporter, reference: string, tx: Database | null): Promise<StoredUsage | null>
  /** Lists an owner's usage reports that wait to be sent, oldest first. */
  waiting(owner: Owner, provider: ProviderName): Promise<WaitingUsage[]>
  /** Counts a customer's usage reports that are not billed yet, by provider and meter. */
  unbilled(by: UsageReporter): Promise<UnbilledUsage[]>
  /**
   * Cancels every usage report of a customer that is not billed yet, and returns their number.
   * Callers must hold the owner's lock.
   */
  voidAll(by: UsageReporter, tx: Database): Promise<number>
  /**
   * Sends these usage reports now, even if they are not due. Returns the number of reports that the
   * provider still does not have.
   */
  sendNow(provider: ProviderName, waiting: readonly WaitingUsage[]): Promise<number>
  /**
   * Marks usage reports that the provider accepted at first and dropped later as refused. Returns
   * the number of these reports that we had sent.
   */
  refuseDropped(provider: ProviderName, dropped: readonly DroppedReport[]): Promise<number>
  /** Cancels a usage report. Repeated calls have no further effect. */
  cancel(usage: StoredUsage): Promise<void>
  /**
   * Registers the worker that charges usage at a provider for which billing itself counts the
   * usage. Called when billing is created.
   */
  serve(provider: ProviderName, served: UsageChargeWorker): void
  /**
   * Marks all pending usage of a subscription as refused, for these meters or for all (`null`). It
   * is not billed, and an event is emitted for each report.
   */
  refuse(subscription: number, meters: readonly string[] | null, reason: string): Promise<void>
  /**
   * Charges the unpaid usage of these subscriptions again now, because the card was changed or a
   * subscription has ended.
   */
  retryUnpaid(provider: ProviderName, subscriptions: readonly number[]): Promise<void>
  /**
   * Makes the unpaid usage of these subscriptions due, within a transaction of a caller that holds
   * the owner's lock. It is charged afterwards, by the timer or by `wake()`.
   */
  makeDue(provider: ProviderName, subscriptions: readonly number[], tx: Database): Promise<void>
  /** Charges due usage now, if billing itself counts the usage at this provider. */
  wake(provider: ProviderName): void
  stop(): Promise<void>
}

/** The worker that charges usage that billing itself counts. */
export interface UsageChargeWorker {
  readonly worker: QueueWorker
  /** Returns the time before which no usage of the subscription becomes due. `null` if unknown. */
  dueAt(subscription: number): Date | null
  makeDue(subscriptions: readonly number[], tx: Database): Promise<void>
}

declare module '../../core/context.ts' {
  interface BillingContext {
    readonly usage: UsageQueue
  }
}
