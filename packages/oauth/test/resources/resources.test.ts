import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientCredentials,
  implicit,
  openid,
  password,
  readByAll,
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

const MCP = 'https://mcp.example.com/mcp'
const ORDERS = 'https://orders.example.com'
const STATUS = 'https://status.example.com'
const REPORTS = 'https://reports.example.com'

let server: TestServer
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startServer({
    grants: [authorizationCode(), refreshToken(), password(), clientCredentials(), implicit()],
    features: [openid()],
    resources: {
      [MCP]: {
        scopes: ['place-orders'],
        accessTokensExpireIn: '10m',
        name: 'Orders for assistants',
      },
      [ORDERS]: {},
      [STATUS]: { scopes: ['check-status'], audience: 'status-api', ...readByAll },
      [REPORTS]: { accessTokenFormat: 'opaque' },
    },
  })
  client = await createClient(server, {
    grants: ['authorization_code', 'refresh_token', 'password', 'client_credentials', 'implicit'],
  })
})
afterAll(() => server.close())

type Pairs = [string, string][]

const resources = (...uris: string[]): Pairs => uris.map((uri) => ['resource', uri])

/** Posts one parameter for each pair, as clients send several resources. */
const post = (pairs: Pairs) =>
  server.request('/oauth/token', {
    method: 'POST',
    body: new URLSearchParams([
      ['client_id', client.id],
      ['client_secret', client.secret],
      ...pairs,
    ]),
  })

const authorize = (...pairs: Pairs) => ask('code', pairs)

async function ask(responseType: string, pairs: Pairs): Promise<URL> {
  const query = new URLSearchParams([
    ['client_id', client.id],
    ['redirect_uri', REDIRECT],
    ['response_type', responseType],
    ...pairs,
  ])
  const page = await server.request(`/oauth/authorize?${query}`, {
    headers: { cookie: 'session=ada.1', accept: 'text/html' },
  })
  if (page.status === 200) return submitApprovalDecision(server, 'ada', page)
  return new URL(page.headers.get('location') ?? 'error:', server.url)
}

interface Reply {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly error?: string
}

async function exchange(code: string | null, ...pairs: Pairs): Promise<Reply> {
  const grant: Pairs = [
    ['grant_type', 'authorization_code'],
    ['code', code ?? ''],
    ['redirect_uri', REDIRECT],
  ]
  return (await (await post([...grant, ...pairs])).json()) as Reply
}

async function grant(scope: string, ...pairs: Pairs): Promise<Reply> {
  const back = await authorize(['scope', scope], ...pairs)
  return exchange(back.searchParams.get('code'))
}

const isAccepted = async (resource: string | null, token: string, { oauth } = server) => {
  const guard = resource === null ? oauth.guard : oauth.guardFor(resource)
  try {
    await guard.authenticate('api', {
      authorization: `Bearer ${token}`,
      cookie: null,
      csrfToken: null,
    })
    return true
  } catch {
    return false
  }
}

describe('a token for a resource', () => {
  it('has the resource as its audience, and is accepted only by its guard', async () => {
    const { access_token } = await grant('place-orders', ...resources(MCP))
    expect(decodeJwt(access_token).aud).toBe(MCP)
    const opened = await Promise.all(
      [MCP, ORDERS, STATUS, null].map((resource) => isAccepted(resource, access_token)),
    )
    expect(opened).toEqual([true, false, false, false])
  })

  it("is a token for the server's own API if the request names no resource", async () => {
    const { access_token } = await grant('place-orders')
    expect(decodeJwt(access_token).aud).toBe(server.url)
    expect(await isAccepted(null, access_token)).toBe(true)
    expect(await isAccepted(ORDERS, access_token)).toBe(false)
    const named = await grant('place-orders', ...resources(server.url))
    expect(decodeJwt(named.access_token).aud).toBe(server.url)
  })

  it('may be for several resources, or for fewer than were granted', async () => {
    const back = await authorize(['scope', 'place-orders'], ...resources(MCP, ORDERS))
    const code = back.searchParams.get('code')
    const first = await exchange(code, ...resources(ORDERS))
    expect(decodeJwt(first.access_token).aud).toBe(ORDERS)
    const refresh = async (token: string, ...pairs: Pairs): Promise<Reply> => {
      const form: Pairs = [
        ['grant_type', 'refresh_token'],
        ['refresh_token', token],
      ]
      return (await (await post([...form, ...pairs])).json()) as Reply
    }
    const second = await refresh(first.refresh_token)
    expect(decodeJwt(second.access_token).aud).toEqual([MCP, ORDERS])
    expect(await isAccepted(MCP, second.access_token)).toBe(true)
    expect(await isAccepted(ORDERS, second.access_token)).toBe(true)
    expect(await isAccepted(null, second.access_token)).toBe(false)
    const more = await refresh(second.refresh_token, ...resources(STATUS))
    expect(more.error).toBe('invalid_target')
    // The refused request did not use anything up.
    const third = await refresh(second.refresh_token, ...resources(MCP))
    expect(decodeJwt(third.access_token).aud).toBe(MCP)
  })

  it('is refused if the client names the resource only after the approval', async () => {
    const back = await authorize(['scope', 'place-orders'])
    const code = back.searchParams.get('code')
    expect((await exchange(code, ...resources(MCP))).error).toBe('invalid_target')
    expect(decodeJwt((await exchange(code)).access_token).aud).toBe(server.url)
  })

  it('has the lifetime of its resource, also after a refresh', async () => {
    const first = await grant('place-orders', ...resources(MCP))
    expect(first.expires_in).toBe(600)
    const { exp = 0, iat = 0 } = decodeJwt(first.access_token)
    expect(exp - iat).toBe(600)
    const reply = await post([
      ['grant_type', 'refresh_token'],
      ['refresh_token', first.refresh_token],
    ])
    expect((await reply.json()).expires_in).toBe(600)
  })

  it('has the algorithm, type, format and audience of its resource', async () => {
    const { access_token } = await grant('check-status', ...resources(STATUS))
    expect(decodeProtectedHeader(access_token)).toMatchObject({ alg: 'RS256', typ: 'JWT' })
    const jwks = await (await server.request('/.well-known/jwks.json')).json()
    const options = { audience: 'status-api', currentDate: server.clock.now() }
    await jwtVerify(access_token, createLocalJWKSet(jwks), options)
    expect(await isAccepted(STATUS, access_token)).toBe(true)
    const reports = await grant('place-orders', ...resources(REPORTS))
    expect(reports.access_token).toMatch(/^tga_/)
    expect([
      await isAccepted(REPORTS, reports.access_token),
      await isAccepted(null, reports.access_token),
    ]).toEqual([true, false])
  })

  it('has the algorithm in the settings of its client', async () => {
    const own = await createClient(server, {
      grants: ['client_credentials'],
      settings: { access_token_signed_response_alg: 'RS256' },
    })
    const reply = await server.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: own.id,
      client_secret: own.secret,
    })
    const { access_token } = (await reply.json()) as Reply
    expect(decodeProtectedHeader(access_token)).toMatchObject({ alg: 'RS256', typ: 'at+jwt' })
  })

  it("has the server's algorithm if the algorithm in the client's settings is no longer available, and new clients cannot choose that algorithm", async () => {
    const plain = { grants: [clientCredentials()], features: [], resources: {} }
    const grants = ['client_credentials']
    const settings = { access_token_signed_response_alg: 'RS256' }
    const own = await createClient(server, { grants, settings })
    const later = server.another(plain)
    await expect(later.clients.create({ name: 'App', grants, settings })).rejects.toMatchObject({
      status: 422,
    })
    const form = {
      grant_type: 'client_credentials',
      client_id: own.id,
      client_secret: own.secret,
    }
    const body = new URLSearchParams(form)
    const request = new Request(`${server.url}/oauth/token`, { method: 'POST', body })
    const reply = await later.fetch(request)
    expect(reply.status).toBe(200)
    expect(decodeProtectedHeader((await reply.json()).access_token).alg).toBe('ES256')
  })

  it.each([
    ['password', { username: 'ada@example.com', password: 'correct horse' }],
    ['client_credentials', {}],
  ])('is issued in the grant %s', async (grantType, form) => {
    const reply = await post([
      ['grant_type', grantType],
      ['scope', 'place-orders'],
      ...(Object.entries(form) as Pairs),
      ...resources(MCP),
    ])
    expect(decodeJwt((await reply.json()).access_token).aud).toBe(MCP)
  })
})

describe('several resources with different token formats', () => {
  const together = resources(STATUS, ORDERS, REPORTS)

  it('can be approved together, and then each token has the format of its resource', async () => {
    const granted = await grant('check-status', ...together)
    const refreshFor = async (uri: string, token: string): Promise<Reply> => {
      const reply = await post([
        ['grant_type', 'refresh_token'],
        ['refresh_token', token],
        ...resources(uri),
      ])
      return reply.json()
    }
    expect(decodeProtectedHeader(granted.access_token)).toMatchObject({ alg: 'RS256', typ: 'JWT' })
    expect(decodeJwt(granted.access_token).aud).toBe('status-api')
    const orders = await refreshFor(ORDERS, granted.refresh_token)
    expect(decodeProtectedHeader(orders.access_token)).toMatchObject({ typ: 'at+jwt' })
    expect(decodeJwt(orders.access_token).aud).toBe(ORDERS)
    const reports = await refreshFor(REPORTS, orders.refresh_token)
    expect(reports.access_token).toMatch(/^tga_/)
    expect(await isAccepted(REPORTS, reports.access_token)).toBe(true)
    expect(await isAccepted(ORDERS, reports.access_token)).toBe(false)
  })

  it('cannot be requested in one token request, and the authorization code stays valid', async () => {
    const back = await authorize(['scope', 'check-status'], ...together)
    const exchange = (...uris: string[]) =>
      post([
        ['grant_type', 'authorization_code'],
        ['redirect_uri', REDIRECT],
        ['code', back.searchParams.get('code') ?? ''],
        ...resources(...uris),
      ])
    const refused = await exchange(STATUS, ORDERS)
    expect([refused.status, (await refused.json()).error]).toEqual([400, 'invalid_target'])
    expect((await exchange(ORDERS)).status).toBe(200)
  })

  it('yield, with response_type=token, a token for those resources that have the format of the first one', async () => {
    const back = await ask('token', [['scope', 'place-orders check-status'], ...together])
    const token = new URLSearchParams(back.hash.slice(1))
    expect(decodeJwt(token.get('access_token') ?? '').aud).toBe('status-api')
    expect(token.get('scope')).toBe('check-status')
  })

  it.each(['client_credentials', 'password'])(
    'cannot be requested together in the grant %s',
    async (grantType) => {
      const reply = await post([
        ['grant_type', grantType],
        ['username', 'ada@example.com'],
        ['password', 'correct horse'],
        ['scope', 'check-status'],
        ...together,
      ])
      expect([reply.status, (await reply.json()).error]).toEqual([400, 'invalid_target'])
    },
  )
})

describe('a request for a resource', () => {
  it.each([
    ['an unknown resource', 'place-orders', ['https://evil.example'], 'invalid_target'],
    ['a resource that is no URL', 'place-orders', ['mcp'], 'invalid_target'],
    ['a similar resource', 'place-orders', [`${MCP}/x`], 'invalid_target'],
    ['a scope that the API does not define', 'check-status', [MCP], 'invalid_scope'],
  ])('is refused for %s', async (_what, scope, uris, error) => {
    const back = await authorize(['scope', scope], ...resources(...uris))
    expect(back.searchParams.get('error')).toBe(error)
  })

  it('is refused if a parameter other than resource is repeated', async () => {
    const back = await server.request(
      `/oauth/authorize?client_id=${client.id}&scope=a&scope=b&redirect_uri=${REDIRECT}`,
    )
    expect(back.status).toBe(400)
  })

  it('returns no token that UserInfo accepts, if the resource is another API', async () => {
    const { access_token } = await grant('openid place-orders', ...resources(MCP))
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await server.request('/oauth/userinfo', { headers })).status).toBe(401)
    const own = await grant('openid')
    const good = { authorization: `Bearer ${own.access_token}` }
    expect((await server.request('/oauth/userinfo', { headers: good })).status).toBe(200)
  })

  it('is possible for known resources only, and guardFor() rejects an unknown one', () => {
    expect(() => server.oauth.guardFor('https://x.example')).toThrow(MCP)
  })

  it('is accepted with a slash after the host, which some clients add', async () => {
    const { access_token } = await grant('place-orders', ...resources(`${ORDERS}/`))
    expect(decodeJwt(access_token).aud).toBe(ORDERS)
  })
})

describe('the metadata of a resource (RFC 9728)', () => {
  it('lists the authorization server and the scopes of the resource', async () => {
    const read = async (path: string) => (await server.request(path)).json()
    expect(await read('/.well-known/oauth-protected-resource/mcp')).toEqual({
      resource: MCP,
      authorization_servers: [server.url],
      scopes_supported: ['place-orders'],
      bearer_methods_supported: ['header'],
      resource_name: 'Orders for assistants',
    })
  })

  it("is linked in the guard's challenge, together with the scopes to request", async () => {
    const own = await startServer({
      resources: { [MCP]: { scopesToAskFor: ['place-orders'] } },
    })
    try {
      const guard = own.oauth.guardFor(MCP)
      const challengeOf = (error: unknown) => guard.refusal(error).headers?.['www-authenticate']
      const credentials = { authorization: null, cookie: null, csrfToken: null }
      const error = await Promise.resolve()
        .then(() => guard.authenticate('api', credentials))
        .catch((thrown) => thrown)
      expect(challengeOf(error)).toBe(
        'Bearer realm="api", scope="place-orders", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"',
      )
      const { InsufficientScope } = await import('../../src/index.ts')
      expect(challengeOf(new InsufficientScope('x', ['a', 'b']))).toMatch(
        /scope="a b", resource_metadata="https:[^"]+"$/,
      )
    } finally {
      await own.close()
    }
  })

  it('is neither served nor linked in challenges if no resources are configured', async () => {
    const plain = await startServer()
    try {
      const path = '/.well-known/oauth-protected-resource'
      expect((await plain.request(path)).status).toBe(404)
      const { InvalidToken } = await import('../../src/index.ts')
      const refusal = plain.oauth.guard.refusal(new InvalidToken('x', { presented: false }))
      expect(refusal.headers?.['www-authenticate']).toBe('Bearer realm="api"')
      const back = await requestAuthorization(plain, 'ada', {
        client_id: 'x',
        resource: 'https://a.example',
      })
      expect(back.status).toBe(400)
    } finally {
      await plain.close()
    }
  })
})

describe('a client with pairwise subjects', () => {
  it('gets access tokens that do not reveal the user id', async () => {
    const own = await startServer({
      features: [openid({ pairwiseSalt: 'a salt of more than thirty-two characters' })],
    })
    try {
      const { runCodeFlow: codeFlow } = await import('../support.ts')
      const hidden = await createClient(own, { settings: { subject_type: 'pairwise' } })
      const { access_token } = await codeFlow(own, hidden)
      expect(access_token).toMatch(/^tga_/)
      const introspected = await own.post('/oauth/introspect', {
        token: access_token,
        client_id: hidden.id,
        client_secret: hidden.secret,
      })
      const { active, sub } = await introspected.json()
      expect([active, sub]).toEqual([true, expect.stringMatching(/^[\w-]{43}$/)])
      const open = await createClient(own)
      expect((await codeFlow(own, open)).access_token).toMatch(/^eyJ/)
    } finally {
      await own.close()
    }
  })
})

it('a server whose own API has its own token type accepts these tokens, but no ID tokens', async () => {
  const own = await startServer({ ...readByAll, features: [openid()] })
  const tokens = await runCodeFlow(own, await createClient(own), { scope: 'openid place-orders' })
  const { access_token, id_token = '' } = tokens as { access_token: string; id_token?: string }
  expect(decodeProtectedHeader(access_token)).toMatchObject({ alg: 'RS256', typ: 'JWT' })
  expect(await isAccepted(null, access_token, own)).toBe(true)
  expect(decodeProtectedHeader(id_token)).toMatchObject({ alg: 'RS256', typ: 'JWT' })
  expect(await isAccepted(null, id_token, own)).toBe(false)
  await own.close()
})
