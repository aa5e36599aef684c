import { createHash, randomBytes } from 'node:crypto'
import { type Database, insertIfAbsent } from '@tollgate/database'
import type { ProviderName } from '../provider-name.ts'

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

export type OperationKind = 'customer' | 'subscription' | 'swap' | 'resume'

export interface OperationRequest {
  readonly provider: ProviderName
  /** Of a swap: the subscription that is replaced. */
  readonly from?: string
  readonly [detail: string]: unknown
}

export interface Intent {
  readonly userId: string | number
  readonly kind: OperationKind
  readonly request: OperationRequest
  /** What makes two intents the same. The whole request, where nothing is given. */
  readonly same?: object
  readonly name?: string
}

export interface StoredOperation extends Operation {
  readonly kind: OperationKind
}

/** Written in the transaction of whoever holds the user's lock. */
export interface OperationRepository {
  begin(intent: Intent, at: Date, tx: Database): Promise<Operation>
  /** What is on record of an intent that was begun and not finished. */
  find(intent: Intent): Promise<Operation | null>
  findName(id: string): Promise<string | null>
  /** What was begun and not finished, oldest first. */
  listByUser(userId: string | number): Promise<StoredOperation[]>
  /** It is done or definitely failed: the next like it is another one. */
  finish(operation: Operation, tx: Database): Promise<void>
}

interface Row {
  id: string
  kind: string
  request: string
  name: string | null
}

export function operationRepository(database: Database): OperationRepository {
  const ofUser = database.statement<{ userId: string | number }, Row>((db, param) =>
    db
      .selectFrom('billing_operations')
      .select(['id', 'kind', 'request', 'name'])
      .where('user_id', '=', param('userId'))
      .orderBy('created_at'),
  )
  return {
    async listByUser(userId) {
      const { rows } = await ofUser({ userId })
      return rows.map(({ id, kind, request, name }) => ({
        id,
        name,
        kind: kind as OperationKind,
        request: JSON.parse(request),
      }))
    },
    find: (intent) => findByIntent(database, intent),
    async begin(intent, at, tx) {
      const { userId, kind, request, name } = intent
      const text = JSON.stringify(request)
      const fingerprint = fingerprintOf(intent)
      const id = randomBytes(12).toString('hex')
      const row = {
        id,
        user_id: userId,
        kind,
        fingerprint,
        request: text,
        name: name ?? null,
        created_at: at.getTime(),
      }
      if (await insertIfAbsent(tx, 'billing_operations', row)) {
        return { id, name: name ?? null, request }
      }
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
    .select(['id', 'name', 'request'])
    .where('user_id', '=', intent.userId)
    .where('kind', '=', intent.kind)
    .where('fingerprint', '=', fingerprintOf(intent))
    .executeTakeFirst()
  return found ? { id: found.id, name: found.name, request: JSON.parse(found.request) } : null
}
