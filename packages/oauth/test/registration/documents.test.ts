import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  clientMetadataDocuments,
  jwtClientAuthentication,
  openid,
  pushedRequests,
} from '../../src/index.ts'
import {
  askFor,
  codeFlow,
  decideOn,
  REDIRECT,
  SCOPES,
  sessionOf,
  startServer,
  type TestServer,
  type TestServerOptions,
} from '../support.ts'
import {
  ASSERTION_TYPE,
  assertionClaims,
  createSigner,
  outgoing,
  sign,
  startWebServer,
  type WebServer,
} from './support.ts'

const CHALLENGE = { code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' }

let web: WebServer
let server: TestServer
beforeEach(async () => {
  web = await startWebServer()
  server = await start()
})
afterEach(async () => {
  await server.close()
  await web.close()
})

function start(
  options: Parameters<typeof clientMetadataDocuments>[0] = {},
  changes: TestServerOptions = {},
): Promise<TestServer> {
  return startServer({
    features: [clientMetadataDocuments(options), jwtClientAuthentication(), pushedRequests()],
    scopes: SCOPES,
    selfRegistered: { scopes: ['place-orders'] },
    outgoing: outgoing(),
    ...changes,
  })
}

/** Serves a document at this path and gives its address, which is the client_id. */
function serve(changes: object = {}, path = '/client.json', headers = {}): string {
  const client_id = web.urlOf(path)
  const document = { client_id, client_name: 'Some app', redirect_uris: [REDIRECT], ...changes }
  web.answerJson(document, headers)
  return client_id
}

const ask = (client_id: string, more: Record<string, string> = {}, at = server) =>
  askFor(at, 'ada', {
    client_id,
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'place-orders',
    ...CHALLENGE,
    ...more,
  })

const rowsOf = (at = server) => at.database.kysely.selectFrom('oauth_clients').selectAll().execute()

describe('a client_id that is the address of a document', () => {
  it('leads to tokens, by nothing but the document', async () => {
    const id = serve()
    const tokens = await codeFlow(server, { id, secret: '' })
    expect(tokens).toMatchObject({ scope: 'place-orders', expires_in: 3600 })
    expect(web.asked).toHaveLength(1)
  })

  it('is what an ID token is for', async () => {
    const provider = await start(
      {},
      {
        features: [clientMetadataDocuments(), openid()],
        selfRegistered: { scopes: ['openid'] },
      },
    )
    try {
      const id = serve()
      const tokens = await codeFlow(provider, { id, secret: '' }, { scope: 'openid' })
      const { id_token } = tokens as unknown as { id_token: string }
      expect(decodeJwt(id_token)).toMatchObject({ aud: id, azp: id })
    } finally {
      await provider.close()
    }
  })

  it('refreshes, and can be pushed', async () => {
    const id = serve({ grant_types: ['authorization_code', 'refresh_token'] })
    const { refresh_token } = await codeFlow(server, { id, secret: '' })
    const form = { grant_type: 'refresh_token', refresh_token, client_id: id }
    expect((await server.post('/oauth/token', form)).status).toBe(200)
    const pushed = await server.post('/oauth/par', {
      client_id: id,
      response_type: 'code',
      redirect_uri: REDIRECT,
      ...CHALLENGE,
    })
    expect(pushed.status).toBe(201)
    const { request_uri } = (await pushed.json()) as { request_uri: string }
    const page = await askFor(server, 'ada', { client_id: id, request_uri })
    expect(page.status).toBe(200)
  })

  it('is unverified again once it says something else, new keys excepted', async () => {
    const [first, second] = [await createSigner('ES256'), await createSigner('ES256')]
    const proof = (signer: typeof first) => ({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [signer.jwk] },
    })
    const unchecked = async (changes: object) => {
      server.clock.advance('2h')
      const page = await ask(serve(changes))
      return (await page.text()).includes('<strong>unverified</strong>')
    }
    expect(await unchecked(proof(first))).toBe(true)
    const [row] = await rowsOf()
    await server.oauth.clients.verify(String(row?.id))
    expect(await unchecked(proof(first))).toBe(false)
    expect(await unchecked(proof(second))).toBe(false)
    expect(await unchecked({ ...proof(second), client_name: 'Your bank' })).toBe(true)
  })

  it('shows people the host, and that nobody has verified it', async () => {
    const page = await ask(serve({ client_name: '<b>Bank</b>' }))
    const html = await page.text()
    expect(html).toContain(`<strong>app.example:${web.port}</strong>`)
    expect(html).toContain('<strong>unverified</strong>')
    expect(html).toContain('&lt;b&gt;Bank&lt;/b&gt;')
  })

  it('is asked about each time', async () => {
    const id = serve()
    await decideOn(server, 'ada', await ask(id))
    expect((await ask(id)).status).toBe(200)
    const silent = await ask(id, { prompt: 'none' })
    expect(silent.headers.get('location')).toContain('error=consent_required')
  })

  it('proves itself by a key where the document says so', async () => {
    const signer = await createSigner('ES256')
    const id = serve({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [signer.jwk] },
    })
    expect((await ask(id)).status).toBe(200)
    const claims = assertionClaims(server, id)
    const client_assertion = await sign(claims, signer.privateKey, { alg: 'ES256', kid: 'key' })
    const revoke = (form: Record<string, string>) =>
      server.post('/oauth/revoke', { token: 'x', ...form })
    const proof = { client_assertion, client_assertion_type: ASSERTION_TYPE }
    expect((await revoke(proof)).status).toBe(200)
    expect((await revoke({ client_id: id })).status).toBe(401)
  })

  it('is told in the metadata', async () => {
    const metadata = await (await server.request('/.well-known/oauth-authorization-server')).json()
    expect(metadata).toMatchObject({
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: expect.arrayContaining(['none']),
    })
  })

  it('is nobody where the feature is off', async () => {
    const plain = await startServer({ outgoing: outgoing() })
    try {
      expect((await ask(serve(), {}, plain)).status).toBe(400)
      expect(web.asked).toEqual([])
    } finally {
      await plain.close()
    }
  })
})

describe('the document', () => {
  it.each([
    ['another client_id', { client_id: 'https://other.example/client.json' }],
    ['no client_id', { client_id: undefined }],
    ['a secret', { client_secret: 'shared' }],
    ['the end of a secret', { client_secret_expires_at: 0 }],
    ['a proof by secret', { token_endpoint_auth_method: 'client_secret_post' }],
    ['a proof by a signed secret', { token_endpoint_auth_method: 'client_secret_jwt' }],
    ['no redirects', { redirect_uris: [] }],
    ['a redirect over http', { redirect_uris: ['http://app.example/cb'] }],
    ['a redirect to script', { redirect_uris: ['javascript:alert(1)'] }],
    ['the password grant', { grant_types: ['password'] }],
    ['client credentials', { grant_types: ['client_credentials'] }],
    ['an implicit response', { response_types: ['token'] }],
    ['a private key', { jwks: { keys: [{ kty: 'EC', d: 'x' }] } }],
    ['a name that deceives', { client_name: 'Bank\u202egro.evil' }],
  ])('threat S5 is refused with %s, and nothing is stored', async (_what, changes) => {
    const page = await ask(serve(changes))
    expect(page.status).toBe(400)
    expect(page.headers.get('location')).toBe(null)
    expect(await rowsOf()).toEqual([])
    expect(server.logged).toEqual([])
  })

  it.each([
    ['a list', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['no JSON', '<html>'],
    ['too long', JSON.stringify({ x: 'a'.repeat(20_000) })],
  ])('that is %s is refused', async (_what, text) => {
    const id = serve()
    web.answer((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(text),
    )
    expect((await ask(id)).status).toBe(400)
  })

  it('takes no redirect that it does not list', async () => {
    const page = await ask(serve(), { redirect_uri: 'https://evil.example/' })
    expect(page.status).toBe(400)
  })

  it('threat S5 is looked at again when it is stale: what it no longer lists is over', async () => {
    const id = serve()
    expect((await ask(id)).status).toBe(200)
    serve({ redirect_uris: ['https://app.example/new'], client_name: 'New name' })
    expect((await ask(id)).status).toBe(200)
    server.clock.advance('10m')
    expect((await ask(id)).status).toBe(400)
    const page = await ask(id, { redirect_uri: 'https://app.example/new' })
    expect(await page.text()).toContain('New name')
    expect(await rowsOf()).toHaveLength(1)
  })

  it('that is away for a while does not end what it began', async () => {
    const id = serve()
    const { access_token } = await codeFlow(server, { id, secret: '' })
    web.answer((_request, response) => response.writeHead(503).end())
    server.clock.advance('10m')
    const revoke = () => server.post('/oauth/revoke', { client_id: id, token: access_token })
    expect((await revoke()).status).toBe(200)
    server.clock.advance('1d')
    expect((await revoke()).status).toBe(400)
  })

  it('that was taken down ends the client', async () => {
    const id = serve()
    await codeFlow(server, { id, secret: '' })
    web.answer((_request, response) => response.writeHead(404).end())
    server.clock.advance('10m')
    expect((await ask(id)).status).toBe(400)
  })
})

describe('threats of documents', () => {
  it.each([
    'https://app.example/',
    'https://app.example',
    'https://app.example/a/../b',
    'https://app.example/%2e%2e/b',
    'https://app.example/a#x',
    'https://user@app.example/a',
    'https://APP.example/a',
    'https://app.example:443/a',
    `https://app.example/${'a'.repeat(600)}`,
    'https://',
    'https:///a',
  ])('%s is no client_id', async (id) => {
    expect((await ask(id)).status).toBe(400)
    expect(web.asked).toEqual([])
  })

  it('http is no client_id', async () => {
    expect((await ask('http://app.example/client.json')).status).toBe(400)
  })

  it('threat S1 a name that leads to a private address is not asked', async () => {
    const shut = await start({}, { outgoing: outgoing({ privateAddresses: [] }) })
    try {
      const page = await ask(serve(), {}, shut)
      expect(page.status).toBe(400)
      expect(await page.text()).not.toContain('127.0.0.1')
      expect(web.asked).toEqual([])
    } finally {
      await shut.close()
    }
  })

  it('threat S1 a redirect is not followed', async () => {
    const id = serve()
    const location = web.urlOf('/inside', 'other.example')
    web.answer((_request, response) => response.writeHead(302, { location }).end())
    expect((await ask(id)).status).toBe(400)
    expect(web.asked).toHaveLength(1)
  })

  it('threat S5 the row behind it is no client_id: it is not looked after', async () => {
    await ask(serve())
    const [row] = await rowsOf()
    expect(row?.id).toMatch(/^cimd_[\w-]{43}$/)
    expect((await ask(row?.id ?? '')).status).toBe(400)
    const form = { client_id: row?.id ?? '', token: 'x' }
    expect((await server.post('/oauth/revoke', form)).status).toBe(401)
  })

  it('a client that was deleted here stays so', async () => {
    const id = serve()
    await ask(id)
    const [row] = await rowsOf()
    await server.oauth.clients.revoke(row?.id ?? '')
    expect((await ask(id)).status).toBe(400)
    server.clock.advance('10m')
    expect((await ask(id)).status).toBe(400)
  })

  it('threat S4 strangers fill no table: who was never used is forgotten, and may come again', async () => {
    const own = await start({ unusedExpireIn: '2d' })
    try {
      const id = serve()
      await ask(id, {}, own)
      own.clock.advance('4d')
      await own.oauth.purge()
      expect(await rowsOf(own)).toEqual([])
      expect((await ask(id, {}, own)).status).toBe(200)
      expect(await rowsOf(own)).toHaveLength(1)
    } finally {
      await own.close()
    }
  })

  it('one that comes again before its row is purged stays', async () => {
    const own = await start({ unusedExpireIn: '2d' })
    try {
      const id = serve()
      await ask(id, {}, own)
      own.clock.advance('2d')
      own.clock.advance(1)
      expect((await ask(id, {}, own)).status).toBe(200)
      own.clock.advance('36h')
      await own.oauth.purge()
      expect((await ask(id, {}, own)).status).toBe(200)
      expect(await rowsOf(own)).toHaveLength(1)
    } finally {
      await own.close()
    }
  })

  describe('of many networks', () => {
    /** Whoever comes, and from where. */
    const addressOf = (request: Request) => request.headers.get('x-caller')
    const askFrom = (address: string, path: string, at: TestServer) =>
      at.request(
        `/oauth/authorize?${new URLSearchParams({
          client_id: web.urlOf(path),
          response_type: 'code',
          redirect_uri: REDIRECT,
          ...CHALLENGE,
        })}`,
        { headers: { cookie: sessionOf('ada'), accept: 'text/html', 'x-caller': address } },
      )
    const serveAny = () =>
      web.answer((request, response) => {
        const client_id = web.urlOf(request.url ?? '')
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ client_id, redirect_uris: [REDIRECT] }))
      })

    it('threat S4 new ones are limited for each, those that are known are not', async () => {
      const own = await start({ perMinute: 2 }, { addressOf })
      try {
        serveAny()
        const ask = (path: string) => askFrom('192.0.2.1', path, own)
        expect((await ask('/1')).status).toBe(200)
        expect((await ask('/2')).status).toBe(200)
        const refused = await ask('/3')
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
        expect((await ask('/1')).status).toBe(200)
        expect(web.asked).toHaveLength(2)
        own.clock.advance(60)
        expect((await ask('/3')).status).toBe(200)
      } finally {
        await own.close()
      }
    })

    it('threat Q6 one that asks for sixty in a minute, all on one host, keeps nobody else out', async () => {
      const own = await start({}, { addressOf })
      try {
        serveAny()
        for (let count = 0; count < 60; count += 1) await askFrom('192.0.2.1', `/${count}`, own)
        expect(web.asked).toHaveLength(10)
        expect((await askFrom('192.0.2.2', '/client', own)).status).toBe(200)
      } finally {
        await own.close()
      }
    })

    it('threat Q6 a link to the sign-in page has nothing fetched', async () => {
      serveAny()
      const query = new URLSearchParams({ client_id: web.urlOf('/new'), response_type: 'code' })
      expect(await server.oauth.findAsking(`/oauth/authorize?${query}`)).toBe(null)
      expect(web.asked).toEqual([])
      expect((await askFrom('192.0.2.1', '/new', server)).status).toBe(200)
      expect(await server.oauth.findAsking(`/oauth/authorize?${query}`)).toMatchObject({
        verified: false,
      })
    })
  })

  it('only hosts that are listed, where some are', async () => {
    const own = await start({ hosts: [`other.example:${web.port}`] })
    try {
      expect((await ask(serve(), {}, own)).status).toBe(400)
      expect(web.asked).toEqual([])
      const client_id = web.urlOf('/client.json', 'other.example')
      web.answerJson({ client_id, redirect_uris: [REDIRECT] })
      expect((await ask(client_id, {}, own)).status).toBe(200)
    } finally {
      await own.close()
    }
  })
})
