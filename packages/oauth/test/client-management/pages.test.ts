import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ClientPageOptions, TokenPageOptions } from '../../src/index.ts'
import { MAX_SEARCHED_CLIENTS } from '../../src/storage/kysely/clients.ts'
import { createClient, runCodeFlow, startServer, type TestServer } from '../support.ts'

const NAMES = ['Shop', 'Web shop', 'Robot', 'Bank', 'Old shop']

let server: TestServer
const ids: string[] = []
let statements: string[] = []
beforeAll(async () => {
  server = await startServer({
    connect: { onQuery: (sql) => !sql.includes('oauth_revocations') && statements.push(sql) },
  })
  for (const name of NAMES) {
    server.clock.advance({ seconds: 1 })
    ids.push((await createClient(server, { name })).id)
  }
  await server.oauth.clients.revoke(ids[4] ?? '')
})
beforeEach(() => {
  statements = []
})
afterAll(() => server.close())

async function namesOf(options: ClientPageOptions = {}): Promise<string[]> {
  const { clients } = await server.oauth.clients.page(options)
  return clients.map(({ name }) => name)
}

describe('clients.page()', () => {
  it('lists all clients, deleted ones included, oldest first', async () => {
    expect(await namesOf()).toEqual(NAMES)
    expect(statements).toHaveLength(1)
  })

  it('continues after the previous page, even if clients were added or changed meanwhile', async () => {
    const own = await startServer()
    try {
      const made: string[] = []
      const add = async () => made.push((await createClient(own, { name: 'Same' })).id)
      for (let count = 0; count < 5; count += 1) await add()
      const seen: string[] = []
      let after: string | null = null
      do {
        const page: { clients: readonly { id: string }[]; next: string | null } =
          await own.oauth.clients.page({ limit: 2, after })
        seen.push(...page.clients.map(({ id }) => id))
        await own.oauth.clients.update(seen[0] ?? '', { name: `Same ${seen.length}` })
        if (seen.length < 4) {
          own.clock.advance({ seconds: 1 })
          await add()
        }
        after = page.next
      } while (after !== null)
      expect([...seen].sort()).toEqual([...made].sort())
    } finally {
      await own.close()
    }
  })

  it('finds clients by part of the name, and a single client by its id', async () => {
    expect(await namesOf({ search: ' SHOP ' })).toEqual(['Shop', 'Web shop', 'Old shop'])
    expect(await namesOf({ search: ids[2] ?? '' })).toEqual(['Robot'])
    expect(await namesOf({ search: 'https://nobody.example/client' })).toEqual([])
    const first = await server.oauth.clients.page({ search: 'shop', limit: 2 })
    expect(first.clients).toHaveLength(2)
    expect(await namesOf({ search: 'shop', limit: 2, after: first.next })).toEqual(['Old shop'])
  })

  const wrong: readonly ClientPageOptions[] = [
    { limit: 0 },
    { limit: 1001 },
    { limit: 1.5 },
    { after: '' },
    { after: 'nonsense!' },
    { after: Buffer.from('["text","id"]').toString('base64url') },
    { after: Buffer.from('[1,""]').toString('base64url') },
    { after: 'x'.repeat(3000) },
    { search: 'x'.repeat(501) },
    { search: '\0' },
  ]
  it.each(wrong)('refuses %j (threat M5)', async (options) => {
    await expect(server.oauth.clients.page(options)).rejects.toMatchObject({
      code: 'validation_failed',
    })
  })

  it('examines a limited number of clients in each search, and the next page continues from there', async () => {
    const own = await startServer()
    try {
      const { id, secret: _ } = await createClient(own, { name: 'First' })
      const row = await own.database.kysely
        .selectFrom('oauth_clients')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      const extra = MAX_SEARCHED_CLIENTS + 50
      for (let start = 0; start < extra; start += 500) {
        const rows = Array.from({ length: 500 }, (_each, index) => ({
          ...row,
          id: `filler-${start + index}`,
          name: 'Filler',
          created_at: Number(row.created_at) + start + index + 1,
        }))
        await own.database.kysely.insertInto('oauth_clients').values(rows).execute()
      }
      own.clock.advance({ days: 1 })
      await createClient(own, { name: 'Last' })
      const first = await own.oauth.clients.page({ search: 'st' })
      expect(first.clients.map(({ name }) => name)).toEqual(['First'])
      const second = await own.oauth.clients.page({ search: 'st', after: first.next })
      expect(second.clients.map(({ name }) => name)).toEqual(['Last'])
      expect(second.next).toBeNull()
    } finally {
      await own.close()
    }
  })
})

describe('tokens.page()', () => {
  let shop: { id: string; secret: string }
  let bank: { id: string; secret: string }
  beforeAll(async () => {
    shop = await createClient(server)
    bank = await createClient(server)
    for (const [client, user] of [
      [shop, 'ada'],
      [shop, 'bob'],
      [bank, 'ada'],
    ] as const) {
      server.clock.advance({ seconds: 1 })
      await runCodeFlow(server, client, { user })
    }
  })

  const pairs = async (options: TokenPageOptions) =>
    (await server.oauth.tokens.page(options)).tokens.map(
      ({ clientId, userId }) => `${userId} ${clientId === shop.id ? 'shop' : 'bank'}`,
    )

  it('lists all valid tokens or those of a user or of a client, newest first', async () => {
    expect(await pairs({})).toEqual(['ada bank', 'bob shop', 'ada shop'])
    expect(await pairs({ userId: 'ada' })).toEqual(['ada bank', 'ada shop'])
    expect(await pairs({ clientId: shop.id })).toEqual(['bob shop', 'ada shop'])
    expect(await pairs({ clientId: shop.id, userId: 'bob' })).toEqual(['bob shop'])
    expect(await pairs({ clientId: 'nobody' })).toEqual([])
    expect(await pairs({ clientId: `https://${'x'.repeat(500)}.example` })).toEqual([])
    expect(await pairs({ clientId: 'x'.repeat(500) })).toEqual([])
  })

  it('continues after the previous page, even if its last token was revoked meanwhile', async () => {
    const first = await server.oauth.tokens.page({ limit: 2 })
    expect(first.tokens).toHaveLength(2)
    expect(statements).toHaveLength(1)
    const rest = await server.oauth.tokens.page({ limit: 2, after: first.next })
    expect(rest.tokens).toHaveLength(1)
    expect(rest.next).toBeNull()
    await server.oauth.tokens.revoke(first.tokens[1]?.id ?? '')
    expect(await pairs({})).toEqual(['ada bank', 'ada shop'])
    expect(await server.oauth.tokens.page({ limit: 2, after: first.next })).toEqual(rest)
  })

  it.each<TokenPageOptions>([{ limit: 0 }, { limit: 1001 }, { after: '' }, { after: '\0' }])(
    'refuses %j (threat M5)',
    async (options) => {
      await expect(server.oauth.tokens.page(options)).rejects.toMatchObject({
        code: 'validation_failed',
      })
    },
  )
})

describe.runIf(process.env.TEST_DATABASE === 'sqlite')('the query plan of a list', () => {
  /** Returns the plan of the statement, with literals in place of parameters. */
  async function planOf(act: () => Promise<unknown>): Promise<string> {
    statements = []
    await act()
    const { sql } = await import('kysely')
    const text = statements.find((each) => each.includes('order by')) ?? ''
    const { rows } = await sql
      .raw<{ detail: string }>(`explain query plan ${text.replaceAll('?', "'1'")}`)
      .execute(server.database.kysely)
    return rows.map(({ detail }) => detail).join('; ')
  }

  it('uses an index for clients and needs no sorting', async () => {
    const { next } = await server.oauth.clients.page({ limit: 1 })
    for (const options of [{}, { after: next }, { search: 'x', after: next }]) {
      const plan = await planOf(() => server.oauth.clients.page(options))
      expect(plan).toContain('oauth_clients_by_age')
      expect(plan).not.toContain('TEMP B-TREE')
    }
  })

  it('uses an index for all tokens and for the tokens of a client, and needs no sorting', async () => {
    for (const options of [{ clientId: 'x' }, { clientId: 'x', after: 'y' }, {}, { after: 'y' }]) {
      const plan = await planOf(() => server.oauth.tokens.page(options))
      expect(plan).toContain('clientId' in options ? 'oauth_tokens_by_client' : 'autoindex')
      expect(plan).not.toContain('TEMP B-TREE')
    }
  })
})
