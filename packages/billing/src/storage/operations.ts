import { createHash, randomBytes } from 'node:crypto'
import { type Database, insertIfAbsent } from '@tollgate/database'
import type { ProviderName } from '../errors.ts'

/**
 * An intent that spans several provider calls. Its id is chosen and stored before the first call, and
 * goes into every idempotency key: whoever repeats an intent that was cut short finds the same id.
 */
export interface Operation {
  /** 24 letters and digits, allowed in every provider's ids. */
  readonly id: string
  /** The subscription's name, for a webhook that comes before the row. */
  readonly name: string | null
  /** Someone began this before and did not finish. */
  readonly resumed: boolean
}

export type OperationKind = 'customer' | 'subscription' | 'swap'

/** What makes two intents the same. */
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
  readonly name?: string
}

export interface StoredOperation extends Operation {
  readonly kind: OperationKind
  readonly request: OperationRequest
}

export interface OperationRepository {
  begin(intent: Intent, at: Date): Promise<Operation>
  findName(id: string): Promise<string | null>
  /** What was begun and not finished, oldest first. */
  listByUser(userId: string | number): Promise<StoredOperation[]>
  /** It is done or definitely failed: the next like it is another one. */
  finish(operation: Operation): Promise<void>
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
        resumed: true,
      }))
    },
    async begin({ userId, kind, request, name }, at) {
      const text = JSON.stringify(request)
      const fingerprint = createHash('sha256').update(text).digest('hex')
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
      if (await insertIfAbsent(database, 'billing_operations', row)) {
        return { id, name: name ?? null, resumed: false }
      }
      const found = await database.kysely
        .selectFrom('billing_operations')
        .select(['id', 'name'])
        .where('user_id', '=', userId)
        .where('kind', '=', kind)
        .where('fingerprint', '=', fingerprint)
        .executeTakeFirstOrThrow()
      return { id: found.id, name: found.name, resumed: true }
    },
    async findName(id) {
      const found = await database.kysely
        .selectFrom('billing_operations')
        .select('name')
        .where('id', '=', id)
        .executeTakeFirst()
      return found?.name ?? null
    },
    async finish({ id }) {
      await database.kysely.deleteFrom('billing_operations').where('id', '=', id).execute()
    },
  }
}
