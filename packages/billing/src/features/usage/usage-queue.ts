import type { Database } from '@tollgate/database'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { Worker } from '../../core/worker.ts'
import type { DroppedReport } from './contract.ts'
import type {
  NewUsage,
  StoredUsage,
  UnbilledUsage,
  UsageReporter,
  WaitingUsage,
} from './usage-rows.ts'

/** Reported usage on its way to the provider. */
export interface UsageOutbox {
  /** Lists reports that the provider does not have yet. `limit` defaults to 100. */
  pending(limit?: number): Promise<StoredUsage[]>
  /** Lists reports that were refused, and are not billed. `limit` defaults to 100. */
  refused(limit?: number): Promise<StoredUsage[]>
  /**
   * Sends a refused report again. Returns whether there is one with this id. If the outcome was
   * unknown, check first that the provider has not counted it.
   */
  retry(id: number): Promise<boolean>
}

/** The outbox, with the methods for the rest of billing. */
export interface UsageQueue extends UsageOutbox {
  /** Sends everything that is due. */
  process(): Promise<void>
  /**
   * Deletes reports that were finished before this time, and returns how many. The same ids could
   * be reported again afterwards.
   */
  purge(before: Date): Promise<number>
  /**
   * Stores a report once for each customer and reference; `false` if it existed. It is sent
   * afterwards.
   */
  add(usage: NewUsage, tx: Database | null): Promise<boolean>
  find(by: UsageReporter, reference: string, tx: Database | null): Promise<StoredUsage | null>
  /** Lists an owner's reports that wait to be sent, oldest first. */
  waiting(owner: Owner, provider: ProviderName): Promise<WaitingUsage[]>
  /** Counts a customer's reports that are not billed yet, by provider and meter. */
  unbilled(by: UsageReporter): Promise<UnbilledUsage[]>
  /**
   * Cancels every report of a customer that is not billed yet. Callers must hold the owner's lock.
   * Returns how many.
   */
  voidAll(by: UsageReporter, tx: Database): Promise<number>
  /**
   * Sends these reports now, even if they are not due. Returns how many the provider does not have.
   */
  sendNow(provider: ProviderName, waiting: readonly WaitingUsage[]): Promise<number>
  /**
   * Refuses reports that the provider accepted and dropped later. Returns how many of them are
   * ours.
   */
  refuseTaken(provider: ProviderName, dropped: readonly DroppedReport[]): Promise<number>
  /** Cancels a report. Idempotent. */
  cancel(usage: StoredUsage): Promise<void>
  /** Connects the worker of a provider whose usage we count. Called when billing is created. */
  serve(provider: ProviderName, served: ServedUsage): void
  /**
   * Refuses all pending usage of a subscription, of these meters or of all (`null`): it is not
   * billed, and an event is emitted.
   */
  refuse(subscription: number, meters: readonly string[] | null, reason: string): Promise<void>
  /**
   * Charges unpaid usage of these subscriptions again now, because there is another card, or one of
   * them ended.
   */
  retryUnpaid(provider: ProviderName, subscriptions: readonly number[]): Promise<void>
  /**
   * Makes unpaid usage due within a transaction, for callers that hold the owner's lock. The timer
   * or `wake()` then charges it.
   */
  makeDue(provider: ProviderName, subscriptions: readonly number[], tx: Database): Promise<void>
  /** Charges due usage now, if we count it at this provider. */
  wake(provider: ProviderName): void
  stop(): Promise<void>
}

/** The worker for usage that we count. */
export interface ServedUsage {
  readonly worker: Worker
  /** Returns until when nothing of a subscription is due. `null` if unknown. */
  dueAt(subscription: number): Date | null
  makeDue(subscriptions: readonly number[], tx: Database): Promise<void>
}
