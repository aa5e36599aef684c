import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ClientJson, TokenJson } from '../../src/index.ts'
import {
  buildSessionCookie,
  createClient,
  REDIRECT,
  runCodeFlow,
  startServer,
  type TestServer,
} from '../support.ts'

let server: TestServer
let statements: string[] = []
beforeAll(async () => {
  server = await startServer({
    connect: { onQuery: (sql) => !sql.includes('oauth_revocations') && statements.push(sql) },
  })
  // Applications approved by Ada, her personal access tokens and her clients: seven of each.
  for (let n = 0; n < 7; n++) {
    await runCodeFlow(server, await createClient(server, { name: `App ${n}` }))
    const body = { name: `token ${n}`, scopes: [] }
    await server.json('ada', 'POST', '/oauth/personal-access-tokens', body)
    // Two with the same name, and one with an emoji, which databases sort only by bytes.
    const name = n < 2 ? 'Same' : n === 2 ? '😀' : `Shop ${n}`
    await server.json('ada', 'POST', '/oauth/clients', { name, redirect: REDIRECT })
  }
  const foreign = { name: 'Not hers', redirect: REDIRECT }
  await server.json('bob', 'POST', '/oauth/clients', foreign)
})
beforeEach(() => {
  statements = []
})
afterAll(() => server.close())

const ROUTES = ['/oauth/clients', '/oauth/tokens', '/oauth/personal-access-tokens']
type Entry = ClientJson | TokenJson

async function read(path: string, user = 'ada') {
  const response = await server.json(user, 'GET', path)
  expect(response.status).toBe(200)
  const link = response.headers.get('link')
  const [, next = null] = /^<([^>]+)>; rel="next"$/.exec(link ?? '') ?? []
  return { entries: (await response.json()) as Entry[], next, link }
}

describe.each(ROUTES)('GET %s', (route) => {
  it('returns a plain array of all entries if no parameters are sent', async () => {
    const { entries, link } = await read(route)
    expect(entries.length).toBe(7)
    expect(link).toBeNull()
  })

  it('returns the same entries, page by page, if parameters are sent', async () => {
    const all = (await read(route)).entries
    const pages: Entry[][] = []
    for (let path: string | null = `${route}?limit=3`; path; ) {
      const { entries, next }: Awaited<ReturnType<typeof read>> = await read(path)
      pages.push(entries)
      path = next
    }
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1])
    expect(pages.flat()).toEqual(all)
    expect((await read(`${route}?limit=7`)).link).toBeNull()
  })

  it('returns the next page even if the last entry of the previous page was deleted in the meantime', async () => {
    const all = (await read(route)).entries
    const { entries, next } = await read(`${route}?limit=2`)
    const gone = entries.at(-1)?.id
    expect((await server.json('ada', 'DELETE', `${route}/${gone}`)).status).toBe(204)
    expect((await read(next ?? '')).entries.map(({ id }) => id)).toEqual(
      all.slice(2, 4).map(({ id }) => id),
    )
  })

  it('shows no entries of another user, whatever cursor is sent', async () => {
    const { next } = await read(`${route}?limit=1`)
    const own = (await read(route, 'bob')).entries.map(({ id }) => id)
    for (const { id } of (await read(next ?? '', 'bob')).entries) expect(own).toContain(id)
  })

  it.each(['limit=0', 'limit=x', 'limit=1001', 'after=x', 'after=', 'limit=1&limit=2'])(
    'refuses the invalid query %s',
    async (query) => {
      const response = await server.json('ada', 'GET', `${route}?${query}`)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: 'invalid_request' })
    },
  )
})

it.each([
  ['/oauth/clients', 1],
  ['/oauth/tokens', 1],
  // The client of personal access tokens is read once per process.
  ['/oauth/personal-access-tokens', 2],
])(
  'GET %s takes %i SQL statement(s) in a process that has cached nothing',
  async (route, count) => {
    const fresh = server.another()
    await fresh.ready()
    const { csrfToken } = await server.cookieMode('ada')
    const headers = { cookie: buildSessionCookie('ada'), 'x-csrf-token': csrfToken }
    statements = []
    const response = await fresh.fetch(new Request(`${server.url}${route}`, { headers }))
    expect(((await response.json()) as unknown[]).length).toBeGreaterThan(4)
    expect(statements.length, statements.join('\n')).toBe(count)
  },
)
