import { randomBytes } from 'node:crypto'
import { type Database, timestamp } from '@tollgate/database'
import { sql } from 'kysely'
import type { Owner } from '../values/owner.ts'
import type { ProviderName } from '../values/provider-name.ts'
import { buildOwnerCondition, toOwnerColumns } from './owner-columns.ts'
import { transferTable } from './tables.ts'

/** A transfer of a customer from one owner to another. */
export interface CustomerTransfer {
  readonly provider: ProviderName
  readonly customer: string
  readonly from: Owner
  readonly to: Owner
}

export interface OwnerTransferRepository {
  /** Whether this is the newest transfer by which the previous owner gave away a customer. */
  isNewest(transfer: CustomerTransfer): Promise<boolean>
  /**
   * Whether the owner transferred a customer to another owner after it had used up its free trial.
   */
  hadTrial(owner: Owner): Promise<boolean>
  /**
   * Records the transfer, and moves all rows of the customer to the new owner. Returns the
   * transfer's id.
   */
  add(
    transfer: CustomerTransfer,
    how: { readonly hadTrial: boolean; readonly at: Date },
    tx: Database,
  ): Promise<string>
}

const TABLE = 'billing_transfers'

export function createTransferRepository({ kysely }: Database): OwnerTransferRepository {
  const from = ({ type, id }: Owner) =>
    kysely.selectFrom(TABLE).where('from_type', '=', type).where('from_id', '=', String(id))
  return {
    async isNewest({ provider, customer, from: owner, to }) {
      const newest = await from(owner)
        .selectAll()
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst()
      return (
        newest !== undefined &&
        newest.provider === provider &&
        newest.provider_customer === customer &&
        newest.to_type === to.type &&
        newest.to_id === String(to.id)
      )
    },
    async hadTrial(owner) {
      const found = await from(owner)
        .select('id')
        .where('had_trial', '=', 1)
        .limit(1)
        .executeTakeFirst()
      return found !== undefined
    },
    async add(transfer, { hadTrial, at }, tx) {
      const { provider, customer, from: giver, to } = transfer
      const id = randomBytes(12).toString('hex')
      const row = transferTable.toRow({
        ...{ id, provider, providerCustomer: customer, hadTrial, createdAt: at },
        ...{ fromType: giver.type, fromId: String(giver.id), toType: to.type, toId: String(to.id) },
      })
      await tx.kysely.insertInto(TABLE).values(row).execute()
      await moveSubscriptions(tx, transfer, at)
      await moveOperations(tx, transfer)
      await moveQueues(tx, transfer)
      return id
    },
  }
}

/**
 * Moves the customer's subscriptions. A row without a customer whose subscription has not ended
 * belongs to the owner's current customer.
 */
async function moveSubscriptions(
  { kysely }: Database,
  { provider, customer, from, to }: CustomerTransfer,
  at: Date,
): Promise<void> {
  await kysely
    .updateTable('subscriptions')
    .set({ ...toOwnerColumns(to), provider_customer: customer })
    .where(buildOwnerCondition(from))
    .where('provider', '=', provider)
    .where((eb) =>
      eb.or([
        eb('provider_customer', '=', customer),
        eb.and([
          eb('provider_customer', 'is', null),
          eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', timestamp(at))]),
        ]),
      ]),
    )
    .execute()
}

/**
 * Moves unfinished operations to the new owner, except operations that create a customer: each
 * owner keeps its own.
 */
async function moveOperations({ kysely }: Database, { from, to }: CustomerTransfer): Promise<void> {
  const begun = await kysely
    .selectFrom('billing_operations')
    .select(['id', 'kind', 'fingerprint'])
    .where(buildOwnerCondition(from))
    .where('kind', '<>', 'customer')
    .execute()
  await kysely
    .deleteFrom('billing_operations')
    .where(buildOwnerCondition(to))
    .where('kind', '=', 'customer')
    .execute()
  for (const { id, kind, fingerprint } of begun) {
    await kysely
      .deleteFrom('billing_operations')
      .where(buildOwnerCondition(to))
      .where('kind', '=', kind)
      .where('fingerprint', '=', fingerprint)
      .execute()
    await kysely
      .updateTable('billing_operations')
      .set({ ...toOwnerColumns(to) })
      .where('id', '=', id)
      .execute()
  }
}

/** Moves usage, disputes, and undelivered events and mail to the new owner. */
async function moveQueues({ kysely }: Database, transfer: CustomerTransfer): Promise<void> {
  const { provider, customer, from, to } = transfer
  const move = (table: string) =>
    kysely
      .updateTable(table)
      .set({ owner_type: to.type, owner_id: String(to.id) })
      .where('owner_type', '=', from.type)
      .where('owner_id', '=', String(from.id))
  await move('billing_usage')
    .where('provider', '=', provider)
    .where((eb) =>
      eb.or([eb('provider_customer', 'is', null), eb('provider_customer', '=', customer)]),
    )
    .execute()
  await move('billing_disputes').where('provider', '=', provider).execute()
  // The subjects of events about a customer begin with the provider.
  await move('billing_events')
    .where('subject', 'like', `${provider}:%`)
    .where(
      sql<boolean>`(state = 'pending' or event_id in
        (select event_id from billing_notices where state = 'pending'))`,
    )
    .execute()
}
