import { type Database, timestamp, upsert } from '@tollgate/database'
import type { Owner } from '../values/owner.ts'
import type { ProviderName } from '../values/provider-name.ts'
import { disputeTable } from './tables.ts'

export type DisputeRecord = ReturnType<typeof disputeTable.fromRow>

/** The filters of a list of disputes, and the number of rows to read. */
export interface DisputeFilters {
  readonly status?: DisputeRecord['status'] | undefined
  readonly provider?: ProviderName | undefined
  readonly owner?: Owner | undefined
  /** The last dispute of the previous page. */
  readonly after?: Pick<DisputeRecord, 'openedAt' | 'provider' | 'providerId'> | undefined
  readonly limit: number
}

/**
 * Reads and writes disputed charges. Rows are never deleted, because they explain why access was
 * suspended.
 */
export interface DisputeRepository {
  find(provider: ProviderName, providerId: string): Promise<DisputeRecord | null>
  /** Lists disputes that match the filters, newest first. */
  list(filters: DisputeFilters): Promise<DisputeRecord[]>
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
    async list({ status, provider, owner, after, limit }) {
      let query = kysely.selectFrom('billing_disputes').selectAll()
      if (status !== undefined) query = query.where('status', '=', status)
      if (provider !== undefined) query = query.where('provider', '=', provider)
      if (owner !== undefined) {
        query = query.where('owner_type', '=', owner.type).where('owner_id', '=', String(owner.id))
      }
      if (after !== undefined) {
        const at = after.openedAt.getTime()
        query = query
          // Lets every database use the index for the first comparison.
          .where('opened_at', '<=', at)
          .where((eb) =>
            eb.or([
              eb('opened_at', '<', at),
              eb('provider', '<', after.provider),
              eb.and([
                eb('provider', '=', after.provider),
                eb('provider_id', '<', after.providerId),
              ]),
            ]),
          )
      }
      const rows = await query
        .orderBy('opened_at', 'desc')
        .orderBy('provider', 'desc')
        .orderBy('provider_id', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => disputeTable.fromRow(row as Row))
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
