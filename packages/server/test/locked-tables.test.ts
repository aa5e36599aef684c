import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Database } from '@tollgate/database'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'

/** SQLite has one lock for all tables, which a transaction takes. */
const LOCKS: Record<string, readonly string[]> = {
  postgres: ['lock table TABLE in access exclusive mode'],
  mariadb: ['lock tables TABLE write', 'unlock tables'],
  sqlite: [],
}

let service: TestService
/** Another client of the database, such as a migration or a backup. */
let other: Database
beforeAll(async () => {
  service = await startTestService()
  await service.users.create({ email: EMAIL, password: PASSWORD })
  other = await connect(service.databaseUrl)
})
afterAll(async () => {
  await other.close()
  await service.stop()
})

async function signIn(): Promise<number> {
  const form = { email: EMAIL, password: PASSWORD }
  return (await service.browser().post('/login', form)).status
}

/** Runs `work` while another transaction locks the table. */
function whileLocked<T>(table: string, work: () => Promise<T>): Promise<T> {
  const [lock, unlock] = LOCKS[process.env.TEST_DATABASE ?? ''] ?? []
  return other.transaction(async (tx) => {
    if (lock) await sql.raw(lock.replace('TABLE', table)).execute(tx.kysely)
    const working = work()
    // The server ends a transaction that is idle.
    const isOver = working.then(
      () => true,
      () => true,
    )
    while (!(await Promise.race([isOver, sleep(1000, false)])))
      await sql`select 1`.execute(tx.kysely)
    if (unlock) await sql.raw(unlock).execute(tx.kysely)
    return working
  })
}

describe('a locked table (threat Q6)', () => {
  it.each(['users', 'oauth_limits'])(
    "delays the owner's sign-in until the lock on %s is released",
    async (table) => {
      // More than the failures allowed for an account.
      const meanwhile = await whileLocked(table, () =>
        Promise.all(Array.from({ length: 12 }, signIn)),
      )
      expect(meanwhile.filter((status) => status !== 503)).toEqual([])
      expect(await signIn()).toBe(303)
    },
    60_000,
  )
})
