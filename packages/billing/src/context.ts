import type { EventStream } from './events/event-stream.ts'
import type { Gateway } from './gateways/contract/gateway.ts'
import type { ResolvedOptions } from './options.ts'
import type { ProviderName } from './provider-name.ts'
import type { CodeAttemptRepository } from './storage/code-attempts.ts'
import type { DisputeRepository } from './storage/disputes.ts'
import type { Locks } from './storage/locks.ts'
import type { OperationRepository } from './storage/operations.ts'
import type { OwnerRepository } from './storage/owners.ts'
import type { SubscriptionRepository } from './storage/subscriptions.ts'
import type { SyncRunRepository } from './storage/sync-runs.ts'
import type { TaxRepository } from './storage/taxes.ts'
import type { TransferRepository } from './storage/transfers.ts'
import type { WebhookRepository } from './storage/webhooks.ts'
import type { UsageQueue } from './usage/usage-outbox.ts'

/** What every part of billing works with. */
export interface BillingContext {
  readonly options: ResolvedOptions
  readonly owners: OwnerRepository
  readonly subscriptions: SubscriptionRepository
  readonly operations: OperationRepository
  readonly taxes: TaxRepository
  readonly disputes: DisputeRepository
  readonly transfers: TransferRepository
  readonly syncRuns: SyncRunRepository
  readonly codeAttempts: CodeAttemptRepository
  readonly webhooks: WebhookRepository
  readonly events: EventStream
  readonly usage: UsageQueue
  readonly locks: Locks
  /** Loads the SDK on first use. */
  gateway(name: ProviderName): Promise<Gateway>
}
