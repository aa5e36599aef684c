import { randomBytes } from 'node:crypto'
import { type Database, timestamp } from '@tollgate/database'
import { sql } from 'kysely'
import type { ProviderName } from '../provider-name.ts'
import type { Owner } from '../values/owner.ts'
import { isOf, toOwnerColumns } from './owner-columns.ts'
import { transferTable } from './tables.ts'

/** A customer that one owner gives to another. */
export interface Transfer {
  readonly provider: ProviderName
  readonly customer: string
  readonly from: Owner
  readonly to: Owner
}

export interface TransferRepository {
  /** Whether the newest transfer of this owner was this one. */
  isNewest(transfer: Transfer): Promise<boolean>
  /** Whether the owner gave away a customer with whom it had used up its free trial. */
  hadTrial(owner: Owner): Promise<boolean>
  /** Writes down that the customer changes hands, and gives everything that belongs to it to the new owner. Gives an id. */
  add(
    transfer: Transfer,
    how: { readonly hadTrial: boolean; readonly at: Date },
    tx: Database,
  ): Promise<string>
}

const TABLE = 'billing_transfers'

export function transferRepository({ kysely }: Database): TransferRepository {
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

/** One that an older build wrote names no customer: while it runs it is that of the customer whom the owner has. */
async function moveSubscriptions(
  { kysely }: Database,
  { provider, customer, from, to }: Transfer,
  at: Date,
): Promise<void> {
  await kysely
    .updateTable('subscriptions')
    .set({ ...toOwnerColumns(to), provider_customer: customer })
    .where(isOf(from))
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

/** Gives unfinished operations to the new owner, except those that create a customer: each owner keeps its own. */
async function moveOperations({ kysely }: Database, { from, to }: Transfer): Promise<void> {
  const begun = await kysely
    .selectFrom('billing_operations')
    .select(['id', 'kind', 'fingerprint'])
    .where(isOf(from))
    .where('kind', '<>', 'customer')
    .execute()
  await kysely
    .deleteFrom('billing_operations')
    .where(isOf(to))
    .where('kind', '=', 'customer')
    .execute()
  for (const { id, kind, fingerprint } of begun) {
    await kysely
      .deleteFrom('billing_operations')
      .where(isOf(to))
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

/** Gives usage, disputes and undelivered events and mail to the new owner. */
async function moveQueues({ kysely }: Database, transfer: Transfer): Promise<void> {
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
  // The subject of what is about a customer begins with its provider.
  await move('billing_events')
    .where('subject', 'like', `${provider}:%`)
    .where(
      sql<boolean>`(state = 'pending' or event_id in
        (select event_id from billing_notices where state = 'pending'))`,
    )
    .execute()
}
