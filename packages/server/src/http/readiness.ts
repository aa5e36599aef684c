import { randomBytes, randomUUID } from 'node:crypto'
import { type Database, databaseNow, findNotPrimary } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { sql } from 'kysely'

/** What `/readyz` tells, and what stands beside it for a person. */
export type Readiness =
  | 'ok'
  | 'the database does not answer'
  | 'the database takes no writes'
  | 'the clock is wrong'
  | 'the database server is a standby, read-only or behind'

/** Milliseconds. Anybody may ask, so that asking must not cost a write each time. */
const WRITE_EVERY = 5000
const WRITE_AGAIN = 1000
const PATIENCE = 2000
/** More than most requests write, so that a disk with almost no room left counts as full. */
const FILLER_BYTES = 6000
const LEFT_BEHIND = 24 * 3600 * 1000

/**
 * A database may answer and still be of no use: a full disk, a standby, a node without a quorum. Only a
 * write that was committed shows otherwise. `checkTokens` rejects while tokens cannot be checked.
 */
export function createReadiness(
  database: Database,
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
    if (now - wroteAt < WRITE_EVERY) return 'ok'
    if (now - refusedAt < WRITE_AGAIN) return 'the database takes no writes'
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
    return within(PATIENCE, looking)
  }
}

/** Says whether the clock of this process is trusted, after the database was found to be. */
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
  return findNotPrimary(error) ? 'the database server is a standby, read-only or behind' : otherwise
}

/** Its own row, anew, so that processes do not wait for each other; and those of processes long gone. */
async function write(database: Database, id: string): Promise<void> {
  const now = databaseNow(database)
  const filler = randomBytes(FILLER_BYTES).toString('base64')
  await database.transaction(async ({ kysely }) => {
    await kysely
      .deleteFrom('write_probes')
      .where((eb) =>
        eb.or([
          eb('id', '=', id),
          eb('written_at', '<', sql<number>`${now} - ${sql.lit(LEFT_BEHIND)}`),
        ]),
      )
      .execute()
    await kysely.insertInto('write_probes').values({ id, written_at: now, filler }).execute()
  })
}

function within(milliseconds: number, work: Promise<Readiness>): Promise<Readiness> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('the database does not answer'), milliseconds)
    void work.then((result) => {
      clearTimeout(timer)
      resolve(result)
    })
  })
}
