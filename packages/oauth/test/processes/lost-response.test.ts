import { connect, type Database } from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../../../../test-support/tcp-proxy.ts'
import {
  type AuthorizationServer,
  createAuthorizationServer,
  refreshToken,
} from '../../src/index.ts'
import {
  createClient,
  runCodeFlow,
  SECRET,
  startServer,
  type TestServer,
  type TestUser,
  type TokenReply,
} from '../support.ts'

const kind = process.env.TEST_DATABASE

/**
 * The packet of a commit to MariaDB. The first byte distinguishes it from "read committed", which
 * new connections send.
 */
const COMMIT = '\u0003commit'

/** SQLite has no connection whose response could be lost: the process and its file are one. */
describe.runIf(kind !== 'sqlite')(
  'a database that executes a commit but loses the response (threat F2)',
  () => {
    let near: TestServer
    let proxy: TcpProxy
    let database: Database
    let cutOff: AuthorizationServer<TestUser>
    beforeEach(async () => {
      near = await startServer()
      proxy = await startTcpProxy(near.databaseUrl)
      database = await connect(proxy.url)
      cutOff = createAuthorizationServer<TestUser>({
        issuer: near.url,
        secret: SECRET,
        database,
        users: near.users,
        grants: [refreshToken()],
        clock: near.clock,
        logger: { error: () => {} },
      })
      await cutOff.ready()
    })
    afterEach(async () => {
      cutOff.close()
      await proxy.heal()
      await database.close()
      await proxy.close()
      await near.close()
    })

    it('never makes the server revoke the grant of an honest client, however long the database does not respond', async () => {
      const client = await createClient(near)
      const families: TokenReply[] = []
      for (let n = 0; n < 6; n += 1) families.push(await runCodeFlow(near, client))
      const refresh = ({ refresh_token }: TokenReply) =>
        cutOff.fetch(
          new Request(`${near.url}/oauth/token`, {
            method: 'POST',
            body: new URLSearchParams({
              grant_type: 'refresh_token',
              client_id: client.id,
              client_secret: client.secret,
              refresh_token,
            }),
          }),
        )
      const generations = async () => {
        const rows = await near.database.kysely
          .selectFrom('oauth_tokens')
          .select('generation')
          .execute()
        return rows.map((row) => Number(row.generation)).sort()
      }
      // The client and the prepared statements are cached by now, as in a service that has been
      // running.
      const [warm, ...others] = families
      if (!warm) throw new Error('There is no grant')
      const renewed = (await (await refresh(warm)).json()) as TokenReply
      const held = [renewed, ...others]

      // Postgres refreshes in one statement, recognized by the token; MariaDB commits separately.
      const [first] = others
      proxy.withholdResponsesAfter(kind === 'postgres' ? idOf(first ?? renewed) : COMMIT)
      const statuses = await Promise.all(held.map(async (tokens) => (await refresh(tokens)).status))
      expect(statuses).toEqual(held.map(() => 503))
      await proxy.heal()
      await expect.poll(generations).not.toEqual([0, 0, 0, 0, 0, 1])

      near.clock.advance({ seconds: 13 })
      await expect.poll(async () => (await refresh(renewed)).status).toBe(200)
      for (const tokens of held) {
        const reply = await refresh(tokens)
        expect(reply.status).toBe(200)
        const next = (await reply.json()) as TokenReply
        expect((await refresh(next)).status).toBe(200)
      }
    })
  },
)

const idOf = ({ refresh_token }: TokenReply) => refresh_token.slice(4).split('.')[0] ?? ''
