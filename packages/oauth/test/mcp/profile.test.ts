import { decodeJwt } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientRegistration,
  cors,
  createAuthorizationServer,
  implicit,
  type McpOptions,
  mcp,
  memoryStorage,
  openid,
  password,
  refreshToken,
} from '../../src/index.ts'
import { METADATA, type Registered, registerAt } from '../registration/open-registration.ts'
import { postJson } from '../registration/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  SECRET,
  startServer,
  submitApprovalDecision,
  type TestServer,
  type TestServerOptions,
  TestUsers,
} from '../support.ts'

const MCP = 'http://localhost:4999/mcp'
const SCOPES = {
  'notes:read': 'Read your notes',
  'notes:write': 'Write notes for you',
  'delete-account': 'Delete your account',
}
const NOTES = { scopes: ['notes:read', 'notes:write'], scopesToAskFor: ['notes:read'] }
const VERIFIER = 'a-verifier-that-is-long-enough-for-anybody-1'
const PKCE = {
  code_challenge: '03BnmsCFjxiiew8w92e0eHJAmcREwx-U10__1usYD2Y',
  code_challenge_method: 'S256',
}

const open: TestServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

async function start(options: Partial<McpOptions> = {}, changes: TestServerOptions = {}) {
  const server = await startServer({
    scopes: SCOPES,
    features: [mcp({ servers: { [MCP]: NOTES }, ...options })],
    ...changes,
  })
  open.push(server)
  return server
}

const ask = (server: TestServer, clientId: string, changes: Record<string, string> = {}) =>
  requestAuthorization(server, 'ada', {
    client_id: clientId,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'notes:read',
    ...PKCE,
    ...changes,
  })

const errorOf = (reply: Response) =>
  new URL(reply.headers.get('location') ?? 'none:').searchParams.get('error')

async function tokenFor(
  server: TestServer,
  client: Registered,
  changes: Record<string, string> = {},
) {
  const back = await submitApprovalDecision(
    server,
    'ada',
    await ask(server, client.client_id, changes),
  )
  const reply = await server.post('/oauth/token', {
    grant_type: 'authorization_code',
    client_id: client.client_id,
    client_secret: client.client_secret ?? '',
    redirect_uri: REDIRECT,
    code_verifier: VERIFIER,
    code: back.searchParams.get('code') ?? '',
  })
  return (await reply.json()) as { access_token: string; expires_in: number; scope: string }
}

async function present(guard: TestServer['oauth']['guard'], token?: string) {
  const authorization = token === undefined ? null : `Bearer ${token}`
  try {
    await guard.authenticate('api', { authorization, cookie: null, csrfToken: null })
    return { status: 200, challenge: undefined }
  } catch (error) {
    const { status, headers } = guard.refusal(error)
    return { status, challenge: headers['www-authenticate'] }
  }
}

describe('mcp()', () => {
  it('lists in the server metadata everything that MCP clients need', async () => {
    const server = await start()
    const reply = await server.request('/.well-known/oauth-authorization-server')
    expect(await reply.json()).toMatchObject({
      issuer: server.url,
      registration_endpoint: `${server.url}/oauth/register`,
      client_id_metadata_document_supported: true,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: expect.arrayContaining(['none']),
      protected_resources: [MCP],
    })
  })

  it('publishes the resource metadata of the MCP server, which the challenge of the guard links to', async () => {
    const server = await start()
    const reply = await server.request('/.well-known/oauth-protected-resource/mcp')
    expect(await reply.json()).toMatchObject({
      resource: MCP,
      authorization_servers: [server.url],
      scopes_supported: ['notes:read', 'notes:write'],
      bearer_methods_supported: ['header'],
    })
    expect(await present(server.oauth.guardFor(MCP))).toEqual({
      status: 401,
      challenge: `Bearer realm="api", scope="notes:read", resource_metadata="${server.url}/.well-known/oauth-protected-resource/mcp"`,
    })
  })

  it('is required for the MCP metadata: without this feature, the server metadata contains none', async () => {
    const server = await start({}, { features: [] })
    const metadata = await server.request('/.well-known/oauth-authorization-server')
    expect(Object.keys((await metadata.json()) as object)).not.toContain('registration_endpoint')
    const resource = await server.request('/.well-known/oauth-protected-resource/mcp')
    expect(resource.status).toBe(404)
    expect((await postJson(server, '/oauth/register', METADATA)).status).toBe(404)
  })
})

describe('a self-registered MCP client', () => {
  it('gets short-lived tokens only for the MCP server, even if the request names no resource', async () => {
    const server = await start()
    const client = await registerAt(server)
    for (const named of [{}, { resource: MCP }, { resource: 'HTTP://LOCALHOST:4999/mcp' }]) {
      const token = await tokenFor(server, client, named as Record<string, string>)
      expect(decodeJwt(token.access_token).aud).toBe(MCP)
      expect(token.expires_in).toBe(3600)
      const { oauth } = server
      expect((await present(oauth.guardFor(MCP), token.access_token)).status).toBe(200)
      expect((await present(oauth.guard, token.access_token)).status).toBe(401)
    }
  })

  it('gets no token for the API of the server itself', async () => {
    const server = await start()
    const { client_id } = await registerAt(server)
    expect(errorOf(await ask(server, client_id, { resource: server.url }))).toBe('invalid_target')
  })

  it('gets no token for another API', async () => {
    const other = 'https://orders.example'
    const server = await start({}, { resources: { [other]: {} } })
    const { client_id } = await registerAt(server)
    expect(errorOf(await ask(server, client_id, { resource: other }))).toBe('invalid_target')
  })

  it('gets a token for an API that is open to self-registered clients', async () => {
    const server = await start({}, { selfRegistered: { resources: ['http://localhost:4999'] } })
    const token = await tokenFor(server, await registerAt(server))
    expect(decodeJwt(token.access_token).aud).toBe(server.url)
  })

  it('must name the resource in its request if there are several MCP servers', async () => {
    const second = 'http://localhost:4999/other'
    const server = await start({ servers: { [MCP]: NOTES, [second]: NOTES } })
    const client = await registerAt(server)
    expect(errorOf(await ask(server, client.client_id))).toBe('invalid_target')
    const token = await tokenFor(server, client, { resource: second })
    expect(decodeJwt(token.access_token).aud).toBe(second)
  })

  it('never gets a scope that no MCP server has', async () => {
    const server = await start()
    const { client_id, scope } = await registerAt(server, { scope: 'delete-account notes:read' })
    expect(scope).toBe('notes:read notes:write')
    for (const asked of ['delete-account', '*', 'notes:read delete-account']) {
      expect(errorOf(await ask(server, client_id, { scope: asked }))).toBe('invalid_scope')
    }
  })

  it('may later request more scopes than it registered', async () => {
    const server = await start()
    const client = await registerAt(server, { scope: 'notes:read' })
    const token = await tokenFor(server, client, { scope: 'notes:read notes:write' })
    expect(token.scope).toBe('notes:read notes:write')
  })

  it('may request offline_access if that scope exists', async () => {
    const features = [openid(), mcp({ servers: { [MCP]: NOTES } })]
    const server = await start({}, { features })
    const scope = 'notes:read offline_access'
    expect(await tokenFor(server, await registerAt(server), { scope })).toMatchObject({ scope })
    const without = await start()
    const { client_id } = await registerAt(without)
    expect(errorOf(await ask(without, client_id, { scope }))).toBe('invalid_scope')
  })

  it('is shown as unverified, with the host of its redirect URI, on each approval screen', async () => {
    const server = await start()
    const { client_id } = await registerAt(server)
    await tokenFor(server, await registerAt(server))
    for (let visits = 0; visits < 2; visits += 1) {
      const html = await (await ask(server, client_id)).text()
      expect(html).toContain('<strong>app.example</strong>')
      expect(html).toContain('unverified')
    }
  })

  it('must use PKCE even if it has a secret', async () => {
    const server = await start()
    const { client_id } = await registerAt(server)
    const reply = await requestAuthorization(server, 'ada', {
      client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'notes:read',
    })
    expect(errorOf(reply)).toBe('invalid_request')
  })
})

describe('a client registered by the operator, with mcp(),', () => {
  it('must use PKCE only for the MCP server, and gets no token for that server by response_type=token', async () => {
    const server = await start({}, { grants: [authorizationCode(), refreshToken(), implicit()] })
    const { id } = await createClient(server, { grants: ['authorization_code', 'implicit'] })
    const request = { client_id: id, redirect_uri: REDIRECT, scope: 'notes:read' }
    const code = { ...request, response_type: 'code' }
    expect((await requestAuthorization(server, 'ada', code)).status).toBe(200)
    expect(errorOf(await requestAuthorization(server, 'ada', { ...code, resource: MCP }))).toBe(
      'invalid_request',
    )
    const token = { ...request, response_type: 'token' }
    expect((await requestAuthorization(server, 'ada', token)).status).toBe(200)
    const refused = await requestAuthorization(server, 'ada', { ...token, resource: MCP })
    expect(refused.headers.get('location')).toContain('error=unsupported_response_type')
  })
})

describe('the features that mcp() adds', () => {
  it('can be configured, for example to disable registration', async () => {
    const server = await start({ registration: 'closed' })
    expect((await postJson(server, '/oauth/register', METADATA)).status).toBe(404)
    const reply = await server.request('/.well-known/oauth-authorization-server')
    const metadata = (await reply.json()) as Record<string, unknown>
    expect(metadata.registration_endpoint).toBeUndefined()
    expect(metadata.client_id_metadata_document_supported).toBe(true)
  })

  it("are replaced by features of the same kind in the application's own list", async () => {
    const token = 'an-initial-access-token-of-more-than-32-letters'
    const own = clientRegistration({
      policy: 'initial-access-token',
      initialAccessTokens: [token],
    })
    const server = await start({}, { features: [own, mcp({ servers: { [MCP]: NOTES } })] })
    expect((await postJson(server, '/oauth/register', METADATA)).status).toBe(401)
    const authorization = `Bearer ${token}`
    const reply = await postJson(server, '/oauth/register', METADATA, { authorization })
    expect(reply.status).toBe(201)
  })

  it('let clients in a browser register and send requests only from the listed origins', async () => {
    const origin = 'https://inspector.example'
    const server = await start({ origins: [origin] })
    const preflight = (from: string) =>
      server.request('/oauth/register', {
        method: 'OPTIONS',
        headers: { origin: from, 'access-control-request-method': 'POST' },
      })
    const allowed = await preflight(origin)
    expect(allowed.headers.get('access-control-allow-origin')).toBe(origin)
    expect(allowed.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version')
    const other = await preflight('https://evil.example')
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
    const guarded = (from: string) =>
      server.oauth.crossOrigin?.decide({ method: 'POST', origin: from, preflightMethod: null })
    expect((await guarded(origin))?.headers['access-control-expose-headers']).toContain(
      'mcp-session-id',
    )
    // A self-registered redirect URI does not open its origin.
    await registerAt(server, { redirect_uris: ['https://evil.example/callback'] })
    expect((await guarded('https://evil.example'))?.headers).toEqual({ vary: 'Origin' })
  })
})

describe('the options of mcp()', () => {
  const make = (options: unknown, changes: object = {}) =>
    createAuthorizationServer({
      issuer: 'https://api.example',
      secret: SECRET,
      storage: memoryStorage(),
      users: new TestUsers(),
      scopes: SCOPES,
      grants: [authorizationCode(), refreshToken()],
      features: [mcp(options as McpOptions)],
      ...changes,
    })

  it.each([
    [{ servers: {} }, /servers is empty/],
    [{ servers: { 'http://api.example/mcp': NOTES } }, /must use https/],
    [{ servers: { 'https://api.example/mcp#a': NOTES } }, /no fragment/],
    [{ servers: { 'https://api.example/mcp?a=b': NOTES } }, /no query/],
    [{ servers: { 'https://API.example/mcp': NOTES } }, /should be written/],
    [{ servers: { mcp: NOTES } }, /should look like/],
    [{ servers: { [MCP]: {} } }, /needs scopes/],
    [{ servers: { [MCP]: { scopes: ['nobody:knows'] } } }, /is not defined/],
    [{ servers: { [MCP]: NOTES }, origins: ['inspector'] }, /origins has/],
    [{ servers: { [MCP]: NOTES }, registration: 'sometimes' }, /policy must be/],
  ])('are rejected at start-up if they are %j', (options, message) => {
    expect(() => make(options)).toThrow(message)
  })

  it('are rejected at start-up if a grant is missing or a feature is listed twice', () => {
    const good = { servers: { [MCP]: NOTES } }
    expect(() => make(good, { grants: [authorizationCode()] })).toThrow(/refreshToken\(\)/)
    expect(() => make(good, { grants: [password(), refreshToken()] })).toThrow(/authorizationCode/)
    expect(() => make(good, { features: [mcp(good), mcp(good)] })).toThrow(/mcp is listed twice/)
    expect(() => make(good, { features: [cors(), mcp(good)] })).not.toThrow()
    const nowhere = { selfRegistered: { resources: ['https://nowhere.example'] } }
    expect(() => make(good, nowhere)).toThrow(/is not listed in the option resources/)
  })
})
