import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bearer, type GuardedApp, guardedApp } from '../specification/guarded-app.ts'
import { countRows } from '../specification/rows.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
  type TestServerOptions,
  type TestUser,
} from '../support.ts'

let server: TestServer
let app: GuardedApp
let client: { id: string; secret: string }
/** The user ids the application was asked for, in order. */
let asked: string[]

async function start(options: TestServerOptions = {}): Promise<void> {
  server = await startServer(options)
  app = guardedApp(server)
  client = await createClient(server, {
    grants: ['authorization_code', 'refresh_token', 'client_credentials', 'implicit'],
  })
  asked = []
  const { findById } = server.users
  server.users.findById = (id) => {
    asked.push(id)
    return findById.call(server.users, id)
  }
}

beforeEach(() => start())
afterEach(() => server.close())

/** Deletes a user without calling `revokeUser()`, as an application may. */
const remove = (id: string) => server.users.all.delete(id)

const post = (path: string, form: Record<string, string>) =>
  server.post(path, { client_id: client.id, client_secret: client.secret, ...form })

const statusWith = async (headers: Record<string, string>) =>
  (await app.get('/any', headers)).status
const refusedSoon = (headers: Record<string, string>) =>
  expect.poll(() => statusWith(headers), { interval: 50 }).toBe(401)

describe('a user who was deleted in the application (threat G3)', () => {
  const kinds: ReadonlyArray<[string, () => Promise<Record<string, string>>]> = [
    ['an access token', async () => bearer((await runCodeFlow(server, client)).access_token)],
    [
      'a personal access token',
      async () => {
        const request = { userId: 'ada', name: 'laptop', scopes: ['place-orders'] }
        return bearer((await server.oauth.tokens.createPersonal(request)).accessToken)
      },
    ],
    [
      'an implicit token',
      async () => {
        const params = { client_id: client.id, redirect_uri: REDIRECT, response_type: 'token' }
        const page = await requestAuthorization(server, 'ada', { ...params, scope: 'place-orders' })
        const { hash } = await submitApprovalDecision(server, 'ada', page)
        return bearer(new URLSearchParams(hash.slice(1)).get('access_token') ?? '')
      },
    ],
    [
      'cookie mode',
      async () => {
        const { cookie, csrfToken } = await server.cookieMode('ada')
        return { cookie, 'x-csrf-token': csrfToken, accept: 'application/json' }
      },
    ],
  ]
  it.each(kinds)('is rejected by the guard with %s', async (_kind, signIn) => {
    const headers = await signIn()
    expect(await statusWith(headers)).toBe(200)
    remove('ada')
    await refusedSoon(headers)
    expect(await statusWith(headers)).toBe(401)
  })

  it('is rejected immediately by a process that has not cached the user', async () => {
    const headers = bearer((await runCodeFlow(server, client)).access_token)
    remove('ada')
    expect(await statusWith(headers)).toBe(401)
  })

  it('gets no token for an authorization code that was not exchanged yet (threat T7)', async () => {
    const params = { client_id: client.id, redirect_uri: REDIRECT, response_type: 'code' }
    const answered = await submitApprovalDecision(
      server,
      'ada',
      await requestAuthorization(server, 'ada', params),
    )
    remove('ada')
    const reply = await post('/oauth/token', {
      grant_type: 'authorization_code',
      redirect_uri: REDIRECT,
      code: answered.searchParams.get('code') ?? '',
    })
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: 'invalid_grant' }])
    expect(await countRows(server, 'oauth_tokens')).toBe(0)
  })

  it('has access and refresh tokens that introspection describes as inactive (threat T14)', async () => {
    const tokens = await runCodeFlow(server, client)
    remove('ada')
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      expect(await (await post('/oauth/introspect', { token })).json()).toEqual({ active: false })
    }
  })
})

describe('the check that a user still exists', () => {
  it('runs once for many requests, and never for a token that a client got for itself', async () => {
    const headers = bearer((await runCodeFlow(server, client)).access_token)
    const machine: { access_token: string } = await (
      await post('/oauth/token', { grant_type: 'client_credentials' })
    ).json()
    asked.length = 0
    const statuses = await Promise.all(Array.from({ length: 100 }, () => statusWith(headers)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect((await app.get('/machine', bearer(machine.access_token))).status).toBe(200)
    expect(asked).toEqual(['ada'])
  })

  it('returns synchronously if the last result is recent', async () => {
    const { access_token } = await runCodeFlow(server, client)
    const credentials = { authorization: `Bearer ${access_token}`, cookie: null, csrfToken: null }
    const first = server.oauth.guard.authenticate('api', credentials)
    expect(first).toBeInstanceOf(Promise)
    await first
    expect(server.oauth.guard.authenticate('api', credentials)).toMatchObject({ id: 'ada' })
  })

  it('leads to 503 and a refusal if it fails, and has no lasting effect (threat F4)', async () => {
    const headers = bearer((await runCodeFlow(server, client)).access_token)
    const { findById } = server.users
    server.users.findById = async () => {
      throw new Error('the user table is away')
    }
    expect(await statusWith(headers)).toBe(503)
    expect(JSON.stringify(server.logged.map(String))).toContain('whether a user still exists')
    server.users.findById = findById
    await expect.poll(() => statusWith(headers), { interval: 50 }).toBe(200)
  })

  it('leads to 503 if it hangs: at guards, in introspection and in a code exchange (threat F4)', async () => {
    const tokens = await runCodeFlow(server, client)
    const params = { client_id: client.id, redirect_uri: REDIRECT, response_type: 'code' }
    const page = await requestAuthorization(server, 'ada', { ...params, prompt: 'consent' })
    const code = (await submitApprovalDecision(server, 'ada', page)).searchParams.get('code') ?? ''
    server.users.findById = () => new Promise<TestUser | null>(() => {})
    const exchange = { grant_type: 'authorization_code', redirect_uri: REDIRECT, code }
    const replies = await Promise.all([
      app.get('/any', bearer(tokens.access_token)),
      post('/oauth/introspect', { token: tokens.access_token }),
      post('/oauth/token', exchange),
      post('/oauth/token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }),
    ])
    expect(replies.map(({ status }) => status)).toEqual([503, 503, 503, 503])
  })

  it('uses users.findByIds() for concurrent checks if the application provides that function', async () => {
    const lists: string[][] = []
    await server.close()
    await start()
    Object.assign(server.users, {
      findByIds: async (ids: readonly string[]) => {
        lists.push([...ids].sort())
        return ids.flatMap((id) => server.users.all.get(id) ?? [])
      },
    })
    const other = server.another()
    const request = { name: 'laptop', scopes: [] }
    const tokens = await Promise.all(
      ['ada', 'bob', 'eve'].map((userId) => other.tokens.createPersonal({ ...request, userId })),
    )
    asked.length = 0
    const outcomes = await Promise.all(
      tokens.map(async ({ accessToken }) => {
        const authorization = `Bearer ${accessToken}`
        try {
          const credentials = { authorization, cookie: null, csrfToken: null }
          return (await other.guard.authenticate('api', credentials)).id
        } catch (error) {
          return other.guard.refusal(error).status
        }
      }),
    )
    expect(outcomes).toEqual(['ada', 'bob', 401])
    expect(lists).toEqual([['ada', 'bob', 'eve']])
    expect(asked).toEqual([])
  })
})
