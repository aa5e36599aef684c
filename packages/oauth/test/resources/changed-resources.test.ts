/** Grants for an API whose configuration has changed since (threat T15, threat G4). */
import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import {
  type AuthorizationServer,
  authorizationCode,
  clientRegistration,
  implicit,
  password,
  refreshToken,
} from '../../src/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'

const ORDERS = 'https://orders.example.com'
const STATUS = 'https://status.example.com'
const GRANTS = [authorizationCode(), refreshToken(), password(), implicit()]
const BOTH = { [ORDERS]: { scopes: ['place-orders'] }, [STATUS]: { scopes: ['check-status'] } }

interface Reply {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly scope: string
  readonly error?: string
}

type Pairs = [string, string][]

async function ask(
  oauth: Pick<AuthorizationServer, 'fetch' | 'issuer'>,
  client: { readonly id: string; readonly secret: string },
  pairs: Pairs,
): Promise<Reply> {
  const body = new URLSearchParams([
    ['client_id', client.id],
    ['client_secret', client.secret],
    ...pairs,
  ])
  const request = new Request(`${oauth.issuer}/oauth/token`, { method: 'POST', body })
  return (await (await oauth.fetch(request)).json()) as Reply
}

const byPassword = (scope: string, ...resources: string[]): Pairs => [
  ['grant_type', 'password'],
  ['username', 'ada@example.com'],
  ['password', 'correct horse'],
  ['scope', scope],
  ...resources.map((uri): [string, string] => ['resource', uri]),
]

const byRefresh = (token: string, ...pairs: Pairs): Pairs => [
  ['grant_type', 'refresh_token'],
  ['refresh_token', token],
  ...pairs,
]

async function isAccepted(
  oauth: Pick<AuthorizationServer, 'guard' | 'guardFor'>,
  resource: string | null,
  accessToken: string,
): Promise<boolean> {
  const guard = resource === null ? oauth.guard : oauth.guardFor(resource)
  const headers = { authorization: `Bearer ${accessToken}`, cookie: null, csrfToken: null }
  try {
    await guard.authenticate('api', headers)
    return true
  } catch {
    return false
  }
}

async function withServer(
  options: Parameters<typeof startServer>[0],
  attempt: (server: TestServer, client: { id: string; secret: string }) => Promise<void>,
): Promise<void> {
  const server = await startServer({ grants: GRANTS, ...options })
  try {
    const grants = ['password', 'refresh_token', 'authorization_code', 'implicit']
    await attempt(server, await createClient(server, { grants }))
  } finally {
    await server.close()
  }
}

describe.each(['jwt', 'opaque'] as const)(
  'removing an API from the resources option (%s tokens)',
  (format) => {
    it("makes the tokens for this API invalid, and they never become tokens for the server's own API", () =>
      withServer({ resources: BOTH, accessTokenFormat: format }, async (server, client) => {
        const tokens = await ask(server.oauth, client, byPassword('place-orders', ORDERS))
        const later = server.another({
          resources: { [STATUS]: BOTH[STATUS] },
          accessTokenFormat: format,
        })
        await later.ready()
        expect(await isAccepted(server.oauth, ORDERS, tokens.access_token)).toBe(true)
        expect(await isAccepted(later, null, tokens.access_token)).toBe(false)
        const refreshed = await ask(later, client, byRefresh(tokens.refresh_token))
        expect(refreshed).toMatchObject({ error: 'invalid_grant' })
        // The removal can be a mistake: where the API is configured, the refresh token still works.
        const back = await ask(server.oauth, client, byRefresh(tokens.refresh_token))
        expect(await isAccepted(server.oauth, ORDERS, back.access_token)).toBe(true)
      }))

    it('keeps tokens for several APIs valid for the APIs that remain', () =>
      withServer({ resources: BOTH, accessTokenFormat: format }, async (server, client) => {
        const scope = 'place-orders check-status'
        const tokens = await ask(server.oauth, client, byPassword(scope, ORDERS, STATUS))
        const later = server.another({
          resources: { [STATUS]: BOTH[STATUS] },
          accessTokenFormat: format,
        })
        await later.ready()
        expect(await isAccepted(later, STATUS, tokens.access_token)).toBe(true)
        expect(await isAccepted(later, null, tokens.access_token)).toBe(false)
        const refreshed = await ask(later, client, byRefresh(tokens.refresh_token))
        expect(refreshed.scope).toBe('check-status')
        expect(await isAccepted(later, STATUS, refreshed.access_token)).toBe(true)
        expect(await isAccepted(later, null, refreshed.access_token)).toBe(false)
      }))

    it('makes authorization codes invalid that were not exchanged yet', () =>
      withServer({ resources: BOTH, accessTokenFormat: format }, async (server, client) => {
        const page = await requestAuthorization(server, 'ada', {
          client_id: client.id,
          redirect_uri: REDIRECT,
          response_type: 'code',
          scope: 'place-orders',
          resource: ORDERS,
        })
        const code =
          (await submitApprovalDecision(server, 'ada', page)).searchParams.get('code') ?? ''
        const later = server.another({ resources: { [STATUS]: {} }, accessTokenFormat: format })
        const form: Pairs = [
          ['grant_type', 'authorization_code'],
          ['redirect_uri', REDIRECT],
          ['code', code],
        ]
        expect(await ask(later, client, form)).toMatchObject({ error: 'invalid_grant' })
      }))
  },
)

describe('an API that the operator closes to self-registered clients', () => {
  it('is inaccessible to these clients from their next refresh on, and still accessible to other clients', () => {
    const features = [clientRegistration({ policy: 'open' })]
    const selfRegistered = { scopes: ['place-orders'] }
    return withServer({ resources: BOTH, features, selfRegistered }, async (server, own) => {
      const registered = await server.request('/oauth/register', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          redirect_uris: [REDIRECT],
          grant_types: ['authorization_code', 'refresh_token'],
        }),
      })
      const { client_id: id, client_secret: secret } = await registered.json()
      const tokens = await runCodeFlow(server, { id, secret })
      expect(await isAccepted(server.oauth, null, tokens.access_token)).toBe(true)
      const ours = await runCodeFlow(server, own)
      const later = server.another({ selfRegistered: { ...selfRegistered, resources: [ORDERS] } })
      const refreshed = await ask(later, { id, secret }, byRefresh(tokens.refresh_token))
      expect(refreshed).toMatchObject({ error: 'invalid_grant' })
      expect((await ask(later, own, byRefresh(ours.refresh_token))).error).toBeUndefined()
    })
  })
})

describe('a token for fewer APIs than were granted', () => {
  it('has only the scopes of these APIs', () =>
    withServer({ resources: BOTH }, async (server, client) => {
      const scope = 'place-orders check-status'
      const tokens = await ask(server.oauth, client, byPassword(scope, ORDERS, STATUS))
      const pairs = byRefresh(tokens.refresh_token, ['resource', ORDERS])
      const fewer = await ask(server.oauth, client, pairs)
      expect(fewer.scope).toBe('place-orders')
      expect(decodeJwt(fewer.access_token)).toMatchObject({ aud: ORDERS, scope: 'place-orders' })
      const wrong = byRefresh(fewer.refresh_token, ['resource', ORDERS], ['scope', 'check-status'])
      expect(await ask(server.oauth, client, wrong)).toMatchObject({ error: 'invalid_scope' })
      // The grant keeps all its scopes, and a failed request uses nothing up.
      const all = await ask(server.oauth, client, byRefresh(fewer.refresh_token))
      expect(all.scope).toBe(scope)
    }))
})

describe('a token for a resource that is returned in the redirect (response_type=token)', () => {
  it('expires no later than the settings of the resource allow', () => {
    const resources = { [ORDERS]: { accessTokensExpireIn: '10m' } }
    return withServer({ resources }, async (server, client) => {
      const page = await requestAuthorization(server, 'ada', {
        client_id: client.id,
        redirect_uri: REDIRECT,
        response_type: 'token',
        scope: 'place-orders',
        resource: ORDERS,
      })
      const { hash } = await submitApprovalDecision(server, 'ada', page)
      const given = new URLSearchParams(hash.slice(1))
      const { exp = 0, iat = 0 } = decodeJwt(given.get('access_token') ?? '')
      expect([exp - iat, given.get('expires_in')]).toEqual([600, '600'])
    })
  })
})

describe("the server's own API, if listed in resources,", () => {
  const resources = {
    'http://localhost:4999': {
      scopes: ['place-orders'],
      accessTokensExpireIn: '5m',
      accessTokenFormat: 'opaque',
    },
  } as const

  it.each([[], ['http://localhost:4999']])(
    'has the listed settings whether or not the request names it (named: %s)',
    (...named) =>
      withServer({ resources }, async (server, client) => {
        const tokens = await ask(server.oauth, client, byPassword('place-orders', ...named))
        expect(tokens.expires_in).toBe(300)
        expect(tokens.access_token).toMatch(/^tga_/)
        expect(await isAccepted(server.oauth, null, tokens.access_token)).toBe(true)
        const other = await ask(server.oauth, client, byPassword('check-status', ...named))
        expect(other).toMatchObject({ error: 'invalid_scope' })
        const refreshed = await ask(server.oauth, client, byRefresh(tokens.refresh_token))
        expect(refreshed.expires_in).toBe(300)
      }),
  )

  it('leaves the lifetime of personal access tokens unchanged', () =>
    withServer({ resources }, async (server) => {
      const { token } = await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'mine' })
      expect(token.expiresAt.getTime() - token.createdAt.getTime()).toBeGreaterThan(86_400_000)
    }))
})
