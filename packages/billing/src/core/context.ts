import type { ResolvedOptions } from '../options.ts'
import type { Gateway } from '../providers/gateway.ts'
import type { EventStream } from './events/event-stream.ts'
import type { LockedOwner } from './locked-owner.ts'
import type { CodeAttemptRepository } from './storage/code-attempts.ts'
import type { DisputeRepository } from './storage/disputes.ts'
import type { BillingLocks } from './storage/locks.ts'
import type { OperationRepository, StoredOperation } from './storage/operations.ts'
import type { OwnerRepository } from './storage/owners.ts'
import type { SubscriptionRepository } from './storage/subscriptions.ts'
import type { SyncRunRepository } from './storage/sync-runs.ts'
import type { TaxRepository } from './storage/taxes.ts'
import type { OwnerTransferRepository } from './storage/transfers.ts'
import type { WebhookRepository } from './storage/webhooks.ts'
import type { ProviderName } from './values/provider-name.ts'

/**
 * The dependencies that all parts of billing share: options, repositories, queues, locks and
 * gateways. Features add their own.
 */
export interface BillingContext {
  readonly options: ResolvedOptions
  readonly owners: OwnerRepository
  readonly subscriptions: SubscriptionRepository
  readonly operations: OperationRepository
  readonly taxes: TaxRepository
  readonly disputes: DisputeRepository
  readonly transfers: OwnerTransferRepository
  readonly syncRuns: SyncRunRepository
  readonly codeAttempts: CodeAttemptRepository
  readonly webhooks: WebhookRepository
  readonly events: EventStream
  readonly locks: BillingLocks
  /**
   * The functions that finish an interrupted operation after its process was killed, by the kind of
   * operation. `null` for kinds that are finished when the caller repeats the call.
   */
  readonly resumes: Readonly<Record<string, ResumeOperation | null>>
  /** Connects to a provider, and loads its SDK, on first use. */
  gateway(name: ProviderName): Promise<Gateway>
}

/**
 * Finishes an operation that a crash interrupted, as far as the provider has carried it out.
 * Idempotent. The record of an operation that never reached the provider is kept.
 */
export type ResumeOperation = (
  context: BillingContext,
  locked: LockedOwner,
  operation: StoredOperation,
) => Promise<void>
