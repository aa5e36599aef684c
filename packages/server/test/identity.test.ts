import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createCertificate } from '../../../test-support/self-signed.ts'
import { startTestService, type TestService, type TestServiceOptions } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery'
const CALLBACK = 'http://127.0.0.1:9/callback'
const VERIFIER = 'v'.repeat(43)
const challenge = createHash('sha256').update(VERIFIER).digest('base64url')

let service: TestService
afterEach(() => service?.stop())

async function start(overrides: TestServiceOptions = {}): Promise<void> {
  service = await startTestService(overrides)
  await service.users.create({ email: EMAIL, password: PASSWORD, name: 'Ada Lovelace' })
}

async function metadata(): Promise<Record<string, unknown>> {
  return (await fetch(`${service.url}/.well-known/openid-configuration`)).json()
}

interface App {
  readonly id: string
  readonly secret: string
  readonly redirect: string
}

async function newApp(changes: { redirect?: string; settings?: object } = {}): Promise<App> {
  const { redirect = CALLBACK, settings = {} } = changes
  const { client, secret } = await service.oauth.clients.create({
    name: 'Bookshop',
    redirect,
    grants: ['authorization_code', 'refresh_token', 'implicit'],
    settings,
  })
  return { id: client.id, secret: secret ?? '', redirect }
}

/**
 * Returns the address that the browser is sent to after the person signed in and pressed Approve.
 */
async function approve(query: Record<string, string>): Promise<URL> {
  const browser = service.browser()
  await browser.signIn(EMAIL, PASSWORD)
  const html = await (await browser.get(`/oauth/authorize?${new URLSearchParams(query)}`)).text()
  const action = /action="(\/oauth\/authorize[^"]+)"/.exec(html)?.[1] ?? ''
  const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const back = await browser.post(action, { csrf_token, decision: 'approve' })
  return new URL(back.headers.get('location') ?? `error:${back.status}`)
}

const ask = ({ id, redirect }: App, changes: Record<string, string> = {}) =>
  approve({
    client_id: id,
    redirect_uri: redirect,
    response_type: 'code',
    scope: 'openid profile email',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...changes,
  })

async function exchange({ id, secret, redirect }: App, code: string | null) {
  const reply = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: code ?? '',
      redirect_uri: redirect,
      code_verifier: VERIFIER,
      client_id: id,
      client_secret: secret,
    }),
  })
  return (await reply.json()) as { id_token: string; access_token: string }
}

function claimsIn(jwt: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
}

async function idTokenOf(app: App): Promise<Record<string, unknown>> {
  const back = await ask(app)
  return claimsIn((await exchange(app, back.searchParams.get('code'))).id_token)
}

describe('the default settings of OpenID Connect', () => {
  it("put the person's name into ID tokens, for clients that never request UserInfo", async () => {
    await start()
    expect(await idTokenOf(await newApp())).toMatchObject({ name: 'Ada Lovelace', email: EMAIL })
    const silent = await newApp({ settings: { claims_in_id_token: false } })
    expect(await idTokenOf(silent)).not.toHaveProperty('name')
  })

  it('announce only what the service supports', async () => {
    await start()
    const said = await metadata()
    expect(said).toMatchObject({
      response_types_supported: ['code', 'token'],
      subject_types_supported: ['public'],
    })
    expect(said.scopes_supported).toEqual(expect.arrayContaining(['profile', 'email']))
    for (const name of ['address', 'phone']) expect(said.scopes_supported).not.toContain(name)
    expect(said.request_object_signing_alg_values_supported).not.toContain('none')
    expect(said.request_uri_parameter_supported).not.toBe(true)
  })
})

describe('settings of OpenID Connect', () => {
  it('determine the lifetime and algorithm of ID tokens, and add scopes', async () => {
    await start({
      settings: {
        claimsInIdToken: false,
        idTokenAlgorithm: 'ES256',
        identityScopes: ['profile', 'email', 'phone'],
        claims: () => ({ phone_number: '+44 20 7946 0000' }),
      },
    })
    const app = await newApp()
    const back = await ask(app, { scope: 'openid profile phone' })
    const { id_token, access_token } = await exchange(app, back.searchParams.get('code'))
    expect(claimsIn(id_token)).not.toHaveProperty('name')
    const header = Buffer.from(id_token.split('.')[0] ?? '', 'base64url').toString()
    expect(JSON.parse(header)).toMatchObject({ alg: 'ES256' })
    const headers = { authorization: `Bearer ${access_token}` }
    const told = await (await fetch(`${service.url}/oauth/userinfo`, { headers })).json()
    expect(told).toMatchObject({ name: 'Ada Lovelace', phone_number: '+44 20 7946 0000' })
  })

  it('add fixed or computed claims to access tokens (accessTokenClaims)', async () => {
    await start({
      settings: {
        accessTokenClaims: async ({ findUser }) => ({ tenant: (await findUser())?.email }),
      },
    })
    const app = await newApp()
    const back = await ask(app, { scope: 'openid' })
    const { access_token } = await exchange(app, back.searchParams.get('code'))
    expect(claimsIn(access_token)).toMatchObject({ tenant: 'ada@example.com' })
    await expect(start({ settings: { accessTokenClaims: { sub: 'x' } } })).rejects.toThrow(
      "'sub' is reserved for the server",
    )
  })

  it('enable response types with an ID token in the redirect (responseTypes)', async () => {
    await start({ settings: { responseTypes: ['code id_token', 'id_token'] } })
    expect((await metadata()).response_types_supported).toEqual([
      'code',
      'token',
      'code id_token',
      'id_token',
    ])
    const back = await ask(await newApp(), { response_type: 'code id_token', nonce: 'n' })
    const params = new URLSearchParams(back.hash.slice(1))
    expect(claimsIn(params.get('id_token') ?? '')).toMatchObject({ nonce: 'n' })
    expect(params.get('code')).toBeTruthy()
  })

  it('give each client a different id for the same person, computed from a salt (pairwise subjects)', async () => {
    const salt = 'a salt of more than thirty-two characters'
    await start({ environment: { TOLLGATE_PAIRWISE_SALT: salt } })
    expect((await metadata()).subject_types_supported).toEqual(['public', 'pairwise'])
    const settings = { subject_type: 'pairwise' }
    const [one, other] = await Promise.all([
      newApp({ settings, redirect: 'https://one.example/callback' }),
      newApp({ settings, redirect: 'https://other.example/callback' }),
    ])
    const subs = [await idTokenOf(one), await idTokenOf(other)].map(({ sub }) => sub)
    expect(subs).toEqual([
      expect.stringMatching(/^[\w-]{43}$/),
      expect.stringMatching(/^[\w-]{43}$/),
    ])
    expect(new Set(subs).size).toBe(2)
  })

  it('let a client with pairwise subjects see only its own subject and the claims of its scopes, on every route of the API (threat Q8)', async () => {
    await start({
      environment: { TOLLGATE_PAIRWISE_SALT: 'a salt of more than thirty-two characters' },
    })
    const person = await service.users.findByEmail(EMAIL)
    const app = await newApp({ settings: { subject_type: 'pairwise' } })
    const tellsWith = async (scope: string) => {
      const back = await ask(app, { scope })
      const { id_token, access_token } = await exchange(app, back.searchParams.get('code'))
      const get = async (path: string) => {
        const headers = { authorization: `Bearer ${access_token}` }
        return await (await fetch(`${service.url}${path}`, { headers })).json()
      }
      return { sub: claimsIn(id_token).sub, user: await get('/api/user'), get }
    }

    const little = await tellsWith('openid')
    expect(little.user).toEqual({ id: little.sub })
    const some = await tellsWith('openid email')
    expect(some.user).toEqual({ id: little.sub, email: EMAIL })
    const all = await tellsWith('openid profile email place-orders check-status')
    expect(all.user).toEqual({ id: little.sub, email: EMAIL, name: 'Ada Lovelace' })

    expect(await all.get('/api/orders')).toEqual([expect.objectContaining({ owner: little.sub })])
    expect(await all.get('/api/subscription')).toMatchObject({ error: 'access_denied' })
    expect(person?.id).not.toBe(little.sub)
  })

  it('allow request objects that are unsigned or fetched from a URL of the client', async () => {
    const web = await serveObject()
    try {
      await start({
        settings: {
          requestObjectsByReference: true,
          unsignedRequestObjects: true,
          outgoing: { privateAddresses: ['127.0.0.1'], certificates: [web.cert] },
        },
      })
      const app = await newApp({ settings: { request_uris: [web.url] } })
      web.serve({
        client_id: app.id,
        redirect_uri: CALLBACK,
        response_type: 'code',
        scope: 'openid',
        state: 'of the object',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })
      const back = await approve({ client_id: app.id, request_uri: web.url })
      expect(back.searchParams.get('state')).toBe('of the object')
      expect(back.searchParams.get('code')).toBeTruthy()
    } finally {
      await web.close()
    }
  })

  it('read MCP servers and optional scopes from environment variables', async () => {
    const address = 'https://mcp.example.com/mcp'
    await start({
      environment: {
        TOLLGATE_MCP_SERVERS: `${address} place-orders`,
        TOLLGATE_OPTIONAL_SCOPES: 'check-status',
      },
    })
    expect(await metadata()).toMatchObject({ protected_resources: [address] })
    const app = await newApp()
    const browser = service.browser()
    await browser.signIn(EMAIL, PASSWORD)
    const query = new URLSearchParams({
      client_id: app.id,
      response_type: 'code',
      scope: 'place-orders check-status',
    })
    const html = await (await browser.get(`/oauth/authorize?${query}`)).text()
    expect(html.match(/type="checkbox"/g)).toHaveLength(1)
    expect(html).toContain('Check order status')
  })
})

/** Starts a client's web server, with one request object. */
async function serveObject() {
  const { cert, key } = createCertificate(['localhost'], ['127.0.0.1'])
  let object = ''
  const web: Server = createServer({ cert, key }, (_request, response) => {
    response.setHeader('content-type', 'application/oauth-authz-req+jwt')
    response.end(object)
  })
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return {
    cert,
    url: `https://127.0.0.1:${(web.address() as AddressInfo).port}/request.jwt`,
    serve(params: object) {
      object = `${encode({ alg: 'none' })}.${encode(params)}.`
    },
    close: () => new Promise((resolve) => web.close(resolve)),
  }
}
