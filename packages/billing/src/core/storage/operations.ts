import { createHash, randomBytes } from 'node:crypto'
import { type Database, insertIfAbsent } from '@tollgate/database'
import type { Owner } from '../values/owner.ts'
import {
  buildOwnerCondition,
  type OwnerColumns,
  type OwnerIdTypes,
  prepareOwnerStatement,
  readRowOwner,
  toOwnerColumns,
} from './owner-columns.ts'
import { type OperationKind, type OperationRequest, operationTable } from './tables.ts'

/**
 * A change that requires several requests to a provider. Its id is stored before the first request
 * and is part of every idempotency key, so a retry after an interruption sends the same keys.
 */
export interface PendingOperation {
  /** 24 letters and digits, valid in the ids of every provider. */
  readonly id: string
  /** The subscription's name, needed when a webhook arrives before our database row is written. */
  readonly name: string | null
  /**
   * The original request. Retries must send the same, because an idempotency key is bound to its
   * request.
   */
  readonly request: OperationRequest
}

export interface OperationIntent {
  readonly owner: Owner
  readonly kind: OperationKind
  readonly request: OperationRequest
  /**
   * The part of the request that identifies the intent: a repeated call with the same part
   * continues the operation. @default the whole request
   */
  readonly same?: object
  readonly name?: string
}

export interface StoredOperation extends PendingOperation {
  readonly kind: OperationKind
}

/** An unfinished operation with its owner. */
export interface UnfinishedOperation {
  readonly id: string
  readonly owner: Owner
}

/**
 * Unfinished operations. Writes happen in a transaction of the process that holds the owner's lock.
 */
export interface OperationRepository {
  begin(intent: OperationIntent, at: Date, tx: Database): Promise<PendingOperation>
  /**
   * Finds the unfinished operation that was recorded for the same intent. `null` if there is none.
   */
  find(intent: OperationIntent): Promise<PendingOperation | null>
  findName(id: string): Promise<string | null>
  /** Lists the owner's unfinished operations, oldest first. */
  listByOwner(owner: Owner): Promise<StoredOperation[]>
  /** Lists unfinished operations of all owners, in batches by operation id. */
  listOwners(after: string, limit: number): Promise<UnfinishedOperation[]>
  /**
   * Removes an operation that is done or has definitely failed, so that the next request starts a
   * new one.
   */
  finish(operation: PendingOperation, tx: Database): Promise<void>
}

const stored = operationTable.pick('id', 'name', 'kind', 'request')
const begun = operationTable.pick('id', 'name', 'request')

export function createOperationRepository(
  database: Database,
  types: OwnerIdTypes,
): OperationRepository {
  const ofOwner = prepareOwnerStatement<object, ReturnType<typeof stored.toRow>>(
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
      const fingerprint = hashOperationIntent(intent)
      const row = operationTable.toRow({ id, kind, fingerprint, request, name, createdAt: at })
      const owned = { ...row, ...toOwnerColumns(owner) }
      if (await insertIfAbsent(tx, 'billing_operations', owned)) return { id, name, request }
      const found = await findByIntent(tx, intent)
      if (!found) throw new Error('The operation disappeared within its own transaction')
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
        owner: readRowOwner(row as OwnerColumns, types),
      }))
    },
    async finish({ id }, tx) {
      await tx.kysely.deleteFrom('billing_operations').where('id', '=', id).execute()
    },
  }
}

function hashOperationIntent({ request, same }: OperationIntent): string {
  return createHash('sha256')
    .update(JSON.stringify(same ?? request))
    .digest('hex')
}

async function findByIntent(
  database: Database,
  intent: OperationIntent,
): Promise<PendingOperation | null> {
  const found = await database.kysely
    .selectFrom('billing_operations')
    .select(begun.columns)
    .where(buildOwnerCondition(intent.owner))
    .where('kind', '=', intent.kind)
    .where('fingerprint', '=', hashOperationIntent(intent))
    .executeTakeFirst()
  return found ? begun.fromRow(found as ReturnType<typeof begun.toRow>) : null
}
