import type { Database } from '@tollgate/database'
import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { createClient, startServer, type TestServer } from '../support.ts'

const LOCKS: Readonly<Record<string, { readonly lock: string; readonly unlock: string }>> = {
  postgres: { lock: 'lock table oauth_tokens in access exclusive mode', unlock: 'select 1' },
  mariadb: { lock: 'lock tables oauth_tokens write', unlock: 'unlock tables' },
}
const locks = LOCKS[process.env.TEST_DATABASE ?? '']

let server: TestServer
afterEach(() => server.close())

describe.runIf(locks)('an SQL statement that exceeds the time limit of the database', () => {
  async function whileLocked<R>(database: Database, work: () => Promise<R>): Promise<R> {
    return database.transaction(async ({ kysely }) => {
      await sql.raw(locks?.lock ?? '').execute(kysely)
      const result = await work()
      await sql.raw(locks?.unlock ?? '').execute(kysely)
      return result
    })
  }

  it('leads to 503 with Retry-After, and is not logged as a bug (threat F2)', async () => {
    server = await startServer({ connect: { timeout: 1000 } })
    const client = await createClient(server, { grants: ['client_credentials'] })
    const ask = () =>
      server.post('/oauth/token', {
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret: client.secret,
      })
    expect((await ask()).status).toBe(200)
    const reply = await whileLocked(server.database, ask)
    expect(reply.status).toBe(503)
    expect(reply.headers.get('retry-after')).toBe('1')
    expect(((await reply.json()) as { error: string }).error).toBe('temporarily_unavailable')
    expect(server.logged).toEqual([])
    expect((await ask()).status).toBe(200)
  })
})
