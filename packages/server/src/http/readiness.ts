import { randomBytes, randomUUID } from 'node:crypto'
import { databaseNow, findNotPrimaryError } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { sql } from 'kysely'
import type { ServiceDatabase } from '../storage/tables.ts'

/**
 * Status in the response of `/readyz`. Everything except `ok` means that the service cannot serve
 * requests.
 */
export type Readiness =
  | 'ok'
  | 'draining'
  | 'the database does not answer'
  | 'the database takes no writes'
  | 'the clock is wrong'
  | 'the database server is a standby, read-only or behind'

/**
 * Milliseconds between writes. Anyone may request `/readyz`, so a request must not cost a write.
 */
const WRITE_INTERVAL = 5000
const WRITE_RETRY_INTERVAL = 1000
const TIMEOUT = 2000
/** Larger than most writes of a request, so that an almost full disk counts as full. */
const FILLER_BYTES = 6000
const STALE_AFTER = 24 * 3600 * 1000

/**
 * Returns a function that checks whether requests can be served: whether a write to the database
 * succeeds, and whether `checkTokens` resolves. `checkTokens` must reject if tokens cannot be
 * verified.
 */
export function createReadiness(
  database: ServiceDatabase,
  checkTokens: () => Promise<void> = async () => {},
): () => Promise<Readiness> {
  const id = randomUUID()
  let wroteAt = Number.NEGATIVE_INFINITY
  let refusedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<Readiness> | null = null

  async function look(): Promise<Readiness> {
    try {
      await sql`select 1`.execute(database.kysely)
      await checkTokens()
    } catch (error) {
      return explain(error, 'the database does not answer')
    }
    const now = performance.now()
    if (now - wroteAt < WRITE_INTERVAL) return 'ok'
    if (now - refusedAt < WRITE_RETRY_INTERVAL) return 'the database takes no writes'
    try {
      await write(database, id)
      wroteAt = performance.now()
      return 'ok'
    } catch (error) {
      wroteAt = Number.NEGATIVE_INFINITY
      refusedAt = performance.now()
      return explain(error, 'the database takes no writes')
    }
  }

  return () => {
    looking ??= look().finally(() => {
      looking = null
    })
    return resolveWithin(TIMEOUT, looking)
  }
}

/** Checks the clock of this process if the given status is `ok`; else returns the given status. */
export async function checkClock(database: Readiness, clock: Clock): Promise<Readiness> {
  if (database !== 'ok') return database
  try {
    await clock.check?.()
    return 'ok'
  } catch {
    return 'the clock is wrong'
  }
}

function explain(error: unknown, otherwise: Readiness): Readiness {
  return findNotPrimaryError(error)
    ? 'the database server is a standby, read-only or behind'
    : otherwise
}

/**
 * Replaces this process's own row, so that processes do not wait for each other, and deletes the
 * rows of processes that ended long ago.
 */
async function write(database: ServiceDatabase, id: string): Promise<void> {
  const now = databaseNow(database)
  const filler = randomBytes(FILLER_BYTES).toString('base64')
  await database.transaction(async ({ kysely }) => {
    await kysely
      .deleteFrom('write_probes')
      .where((eb) =>
        eb.or([
          eb('id', '=', id),
          eb('written_at', '<', sql<number>`${now} - ${sql.lit(STALE_AFTER)}`),
        ]),
      )
      .execute()
    await kysely.insertInto('write_probes').values({ id, written_at: now, filler }).execute()
  })
}

function resolveWithin(milliseconds: number, work: Promise<Readiness>): Promise<Readiness> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('the database does not answer'), milliseconds)
    void work.then((result) => {
      clearTimeout(timer)
      resolve(result)
    })
  })
}
