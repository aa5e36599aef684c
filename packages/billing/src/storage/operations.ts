import { createHash, randomBytes } from 'node:crypto'
import { type Database, insertIfAbsent } from '@tollgate/database'
import type { Owner } from '../values/owner.ts'
import {
  isOf,
  type OwnerColumns,
  type OwnerIdTypes,
  ownerOfRow,
  ownerStatement,
  toOwnerColumns,
} from './owner-columns.ts'
import { type OperationKind, type OperationRequest, operationTable } from './tables.ts'

/**
 * An intent that spans several provider calls. Its id is chosen and stored before the first call, and
 * goes into every idempotency key: whoever repeats an intent that was cut short finds the same id.
 */
export interface Operation {
  /** 24 letters and digits, allowed in every provider's ids. */
  readonly id: string
  /** The subscription's name, for a webhook that comes before the row. */
  readonly name: string | null
  /** As it was first asked for: under one idempotency key nothing else may be sent. */
  readonly request: OperationRequest
}

export interface Intent {
  readonly owner: Owner
  readonly kind: OperationKind
  readonly request: OperationRequest
  /** What makes two intents the same. The whole request, where nothing is given. */
  readonly same?: object
  readonly name?: string
}

export interface StoredOperation extends Operation {
  readonly kind: OperationKind
}

/** An operation that was begun and not finished, and its owner. */
export interface OwnedOperation {
  readonly id: string
  readonly owner: Owner
}

/** Written in the transaction of whoever holds the owner's lock. */
export interface OperationRepository {
  begin(intent: Intent, at: Date, tx: Database): Promise<Operation>
  /** What is on record of an intent that was begun and not finished. */
  find(intent: Intent): Promise<Operation | null>
  findName(id: string): Promise<string | null>
  /** What was begun and not finished, oldest first. */
  listByOwner(owner: Owner): Promise<StoredOperation[]>
  /** Owners of what was begun and not finished, in batches by the operation's id. */
  listOwners(after: string, limit: number): Promise<OwnedOperation[]>
  /** It is done or definitely failed: the next like it is another one. */
  finish(operation: Operation, tx: Database): Promise<void>
}

const stored = operationTable.pick('id', 'name', 'kind', 'request')
const begun = operationTable.pick('id', 'name', 'request')

export function operationRepository(database: Database, types: OwnerIdTypes): OperationRepository {
  const ofOwner = ownerStatement<object, ReturnType<typeof stored.toRow>>(
    database,
    (db, isTheirs) =>
      db
        .selectFrom('billing_operations')
        .select(stored.columns)
        .where(isTheirs)
        .orderBy('created_at'),
  )
  return {
    listByOwner: async (owner) => (await ofOwner(owner, {})).map(stored.fromRow),
    find: (intent) => findByIntent(database, intent),
    async begin(intent, at, tx) {
      const { owner, kind, request, name = null } = intent
      const id = randomBytes(12).toString('hex')
      const fingerprint = fingerprintOf(intent)
      const row = operationTable.toRow({ id, kind, fingerprint, request, name, createdAt: at })
      const owned = { ...row, ...toOwnerColumns(owner) }
      if (await insertIfAbsent(tx, 'billing_operations', owned)) return { id, name, request }
      const found = await findByIntent(tx, intent)
      if (!found) throw new Error('An operation went away in the transaction that found it')
      return found
    },
    async findName(id) {
      const found = await database.kysely
        .selectFrom('billing_operations')
        .select('name')
        .where('id', '=', id)
        .executeTakeFirst()
      return found?.name ?? null
    },
    async listOwners(after, limit) {
      const rows = await database.kysely
        .selectFrom('billing_operations')
        .select(['id', 'user_id', 'owner_type', 'owner_id'])
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        id: row.id,
        owner: ownerOfRow(row as unknown as OwnerColumns, types),
      }))
    },
    async finish({ id }, tx) {
      await tx.kysely.deleteFrom('billing_operations').where('id', '=', id).execute()
    },
  }
}

function fingerprintOf({ request, same }: Intent): string {
  return createHash('sha256')
    .update(JSON.stringify(same ?? request))
    .digest('hex')
}

async function findByIntent(database: Database, intent: Intent): Promise<Operation | null> {
  const found = await database.kysely
    .selectFrom('billing_operations')
    .select(begun.columns)
    .where(isOf(intent.owner))
    .where('kind', '=', intent.kind)
    .where('fingerprint', '=', fingerprintOf(intent))
    .executeTakeFirst()
  return found ? begun.fromRow(found as ReturnType<typeof begun.toRow>) : null
}
