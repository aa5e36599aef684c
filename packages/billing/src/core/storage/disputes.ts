import { type Database, timestamp, upsert } from '@tollgate/database'
import type { ProviderName } from '../values/provider-name.ts'
import { disputeTable } from './tables.ts'

export type DisputeRecord = ReturnType<typeof disputeTable.fromRow>

/**
 * Reads and writes disputed charges. Rows are never deleted, because they explain why access was
 * suspended.
 */
export interface DisputeRepository {
  find(provider: ProviderName, providerId: string): Promise<DisputeRecord | null>
  /** Writes the dispute, and updates the column `disputed_at` of its subscription. */
  save(dispute: DisputeRecord, tx: Database): Promise<void>
}

type Row = ReturnType<typeof disputeTable.toRow>

export function createDisputeRepository({ kysely }: Database): DisputeRepository {
  return {
    async find(provider, providerId) {
      const row = await kysely
        .selectFrom('billing_disputes')
        .selectAll()
        .where('provider', '=', provider)
        .where('provider_id', '=', providerId)
        .executeTakeFirst()
      return row ? disputeTable.fromRow(row as Row) : null
    },
    async save(dispute, tx) {
      const key = ['provider', 'provider_id']
      await upsert(tx, 'billing_disputes', disputeTable.toRow(dispute), key)
      if (dispute.subscriptionId !== null) await markSubscription(tx, dispute.subscriptionId)
    },
  }
}

/**
 * Sets `disputed_at` of a subscription to the start of its oldest open dispute, or to `null` if no
 * dispute is open. Inquiries do not count.
 */
async function markSubscription({ kysely }: Database, id: number): Promise<void> {
  const first = await kysely
    .selectFrom('billing_disputes')
    .select('opened_at')
    .where('subscription_id', '=', id)
    .where('closed_at', 'is', null)
    .where('status', '=', 'open')
    .orderBy('opened_at')
    .limit(1)
    .executeTakeFirst()
  const disputed_at = first ? timestamp(new Date(Number(first.opened_at))) : null
  await kysely.updateTable('subscriptions').set({ disputed_at }).where('id', '=', id).execute()
}
