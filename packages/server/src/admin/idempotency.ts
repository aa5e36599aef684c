import { createHmac } from 'node:crypto'
import { insertIfAbsent } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { adminRequestTable, deleteInBatches, type ServiceDatabase } from '../storage/tables.ts'
import type { Actor } from './audit/caller.ts'
import { formatCanonicalJson } from './audit/canonical.ts'
import { sha256 } from './audit/log.ts'
import { AdminProblem } from './problems.ts'

/** How long a response is kept, in milliseconds. */
const RETENTION = 24 * 3600_000
/**
 * Milliseconds without a response after which the process that ran the request is considered dead.
 */
const INTERRUPTED_AFTER = 2 * 60_000

/** A request with an idempotency key. */
export interface KeyedRequest {
  readonly actor: Actor
  /** The `Idempotency-Key` that the caller chose. */
  readonly key: string
  readonly operation: string
  readonly input: unknown
  /**
   * Whether the work itself can be repeated with the same key. Then an interrupted request is run
   * again instead of failing with `outcome-unknown`.
   * @default false
   */
  readonly isRepeatable?: boolean
}

/** Hashes the key together with the caller, so that other callers cannot use the same key. */
export function hashCallerKey({ kind, id }: Actor, key: string): string {
  return sha256(JSON.stringify([kind, id, key]))
}

/** Runs each request with an idempotency key once, across processes and crashes. */
export interface IdempotentRequests {
  /**
   * Runs `work` if the key is new, else returns the stored result. A failed request frees its key.
   * Inside a unit of work, the key is stored together with the changes or not at all. `forRepeats`
   * removes parts of the result that must not be stored.
   * @throws AdminProblem `key-reused`, `request-in-progress` or `outcome-unknown`
   */
  once<Result>(
    request: KeyedRequest,
    work: () => Promise<Result>,
    forRepeats?: (result: Result) => Result,
  ): Promise<Result>
  purge(): Promise<number>
}

export function createIdempotentRequests(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
  /** Secrets of the service. The first one is used for new requests. */
  readonly secrets: readonly string[]
}): IdempotentRequests {
  const { clock, secrets, database } = options
  const remove = (keyHash: string) =>
    database.kysely.deleteFrom('admin_requests').where('key_hash', '=', keyHash).execute()

  /** Claims a request whose process died. Only one of several callers succeeds. */
  const takeOver = async ({ keyHash, createdAt }: StoredRequest, now: Date) => {
    const { numUpdatedRows } = await database.kysely
      .updateTable('admin_requests')
      .set({ created_at: now.getTime() })
      .where('key_hash', '=', keyHash)
      .where('created_at', '=', createdAt.getTime())
      .where('response', 'is', null)
      .executeTakeFirst()
    return Number(numUpdatedRows) > 0
  }

  return {
    async once<Result>(
      request: KeyedRequest,
      work: () => Promise<Result>,
      forRepeats: (result: Result) => Result = (result) => result,
    ): Promise<Result> {
      const { actor, key, operation, input, isRepeatable = false } = request
      const keyHash = hashCallerKey(actor, key)
      const hashes = hashRequest({ operation, input }, secrets)
      const [requestHash = ''] = hashes
      const now = clock.now()
      const row = adminRequestTable.toRow({ keyHash, requestHash, createdAt: now, response: null })
      if (!(await insertIfAbsent(database, 'admin_requests', row))) {
        const [found] = await database.kysely
          .selectFrom('admin_requests')
          .selectAll()
          .where('key_hash', '=', keyHash)
          .execute()
        // The first request has just failed and freed the key.
        if (!found) return this.once(request, work, forRepeats)
        const first = adminRequestTable.fromRow(found)
        if (now.getTime() - first.createdAt.getTime() > RETENTION) {
          await remove(keyHash)
          return this.once(request, work, forRepeats)
        }
        const isSame = hashes.includes(first.requestHash)
        if (!isRepeatable || !isSame || !isInterrupted(first, now)) {
          return repeat(first, isSame, now) as Result
        }
        // Another caller has taken it over since, or has just finished it: its outcome will be known.
        if (!(await takeOver(first, now))) return this.once(request, work, forRepeats)
      }
      let result: Result
      try {
        result = await work()
      } catch (error) {
        // Inside a unit of work that failed, the row is undone with everything else.
        await remove(keyHash).catch(() => {})
        throw error
      }
      await database.kysely
        .updateTable('admin_requests')
        .set({ response: JSON.stringify({ result: forRepeats(result) }) })
        .where('key_hash', '=', keyHash)
        .execute()
      return result
    },
    async purge() {
      const before = clock.now().getTime() - RETENTION
      return deleteInBatches(database, {
        table: 'admin_requests',
        key: 'key_hash',
        where: (eb) => eb('created_at', '<', before),
      })
    },
  }
}

type StoredRequest = ReturnType<typeof adminRequestTable.fromRow>

/**
 * Hashes a request with each secret of the service. The input may contain a password, which a
 * reader of the table could guess from a hash made without a secret.
 */
function hashRequest(
  { operation, input }: Pick<KeyedRequest, 'operation' | 'input'>,
  secrets: readonly string[],
): string[] {
  // Canonical, because a caller may write the members of a repeat in another order.
  const request = formatCanonicalJson([operation, input])
  return secrets.map((secret) =>
    createHmac('sha256', `tollgate admin request ${secret}`).update(request).digest('base64url'),
  )
}

/** Whether the process that ran the request is considered dead. */
function isInterrupted({ createdAt, response }: StoredRequest, now: Date): boolean {
  return response === null && now.getTime() - createdAt.getTime() >= INTERRUPTED_AFTER
}

function repeat(first: StoredRequest, isSame: boolean, now: Date): unknown {
  if (!isSame) {
    throw new AdminProblem(
      'key-reused',
      'This Idempotency-Key was sent with another request. Choose a new key for a new request.',
    )
  }
  if (first.response !== null) return JSON.parse(first.response).result
  if (!isInterrupted(first, now)) {
    throw new AdminProblem(
      'request-in-progress',
      'The first request with this Idempotency-Key is still running. Repeat it in a few seconds.',
    )
  }
  throw new AdminProblem(
    'outcome-unknown',
    'The first request with this Idempotency-Key was interrupted, so its outcome is unknown. The audit log has its `started` entry: check the object before you repeat the request with a new key.',
  )
}
