import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  clientMetadataDocuments,
  jwtClientAuthentication,
  openid,
  pushedRequests,
} from '../../src/index.ts'
import {
  buildSessionCookie,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  SCOPES,
  startServer,
  submitApprovalDecision,
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

/** Serves a document at this path and returns its URL, which is the client_id. */
function serve(changes: object = {}, path = '/client.json', headers = {}): string {
  const client_id = web.urlOf(path)
  const document = { client_id, client_name: 'Some app', redirect_uris: [REDIRECT], ...changes }
  web.answerJson(document, headers)
  return client_id
}

const ask = (client_id: string, more: Record<string, string> = {}, at = server) =>
  requestAuthorization(at, 'ada', {
    client_id,
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'place-orders',
    ...CHALLENGE,
    ...more,
  })

const rowsOf = (at = server) => at.database.kysely.selectFrom('oauth_clients').selectAll().execute()

describe('a client ID metadata document', () => {
  it('lets a client get tokens without registration', async () => {
    const id = serve()
    const tokens = await runCodeFlow(server, { id, secret: '' })
    expect(tokens).toMatchObject({ scope: 'place-orders', expires_in: 3600 })
    expect(web.asked).toHaveLength(1)
  })

  it('is identified by its URL, which is the client id and the audience of ID tokens', async () => {
    const provider = await start(
      {},
      {
        features: [clientMetadataDocuments(), openid()],
        selfRegistered: { scopes: ['openid'] },
      },
    )
    try {
      const id = serve()
      const tokens = await runCodeFlow(provider, { id, secret: '' }, { scope: 'openid' })
      const { id_token } = tokens as unknown as { id_token: string }
      expect(decodeJwt(id_token)).toMatchObject({ aud: id, azp: id })
    } finally {
      await provider.close()
    }
  })

  it('works for clients that refresh tokens and push their requests', async () => {
    const id = serve({ grant_types: ['authorization_code', 'refresh_token'] })
    const { refresh_token } = await runCodeFlow(server, { id, secret: '' })
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
    const page = await requestAuthorization(server, 'ada', { client_id: id, request_uri })
    expect(page.status).toBe(200)
  })

  it('makes its client unverified again when it changes, unless only the keys have changed', async () => {
    const [first, second] = [await createSigner('ES256'), await createSigner('ES256')]
    const proof = (signer: typeof first) => ({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [signer.jwk] },
    })
    const unchecked = async (changes: object) => {
      server.clock.advance({ hours: 2 })
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

  it('is shown to people by its host, with a note that the client is unverified', async () => {
    const page = await ask(serve({ client_name: '<b>Bank</b>' }))
    const html = await page.text()
    expect(html).toContain(`<strong>app.example:${web.port}</strong>`)
    expect(html).toContain('<strong>unverified</strong>')
    expect(html).toContain('&lt;b&gt;Bank&lt;/b&gt;')
  })

  it('causes an approval screen for every request', async () => {
    const id = serve()
    await submitApprovalDecision(server, 'ada', await ask(id))
    expect((await ask(id)).status).toBe(200)
    const silent = await ask(id, { prompt: 'none' })
    expect(silent.headers.get('location')).toContain('error=consent_required')
  })

  it('makes the client authenticate with a key if it declares that method', async () => {
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

  it('is announced in the metadata', async () => {
    const metadata = await (await server.request('/.well-known/oauth-authorization-server')).json()
    expect(metadata).toMatchObject({
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: expect.arrayContaining(['none']),
    })
  })

  it('is treated as an unknown client id if the feature is disabled', async () => {
    const plain = await startServer({ outgoing: outgoing() })
    try {
      expect((await ask(serve(), {}, plain)).status).toBe(400)
      expect(web.asked).toEqual([])
    } finally {
      await plain.close()
    }
  })
})

describe('the checks of a client ID metadata document', () => {
  it.each([
    ['another client_id', { client_id: 'https://other.example/client.json' }],
    ['no client_id', { client_id: undefined }],
    ['a secret', { client_secret: 'shared' }],
    ['client_secret_expires_at', { client_secret_expires_at: 0 }],
    ['client_secret_post', { token_endpoint_auth_method: 'client_secret_post' }],
    ['client_secret_jwt', { token_endpoint_auth_method: 'client_secret_jwt' }],
    ['no redirect URIs', { redirect_uris: [] }],
    ['a plain http redirect URI', { redirect_uris: ['http://app.example/cb'] }],
    ['a javascript: redirect URI', { redirect_uris: ['javascript:alert(1)'] }],
    ['the password grant', { grant_types: ['password'] }],
    ['the client credentials grant', { grant_types: ['client_credentials'] }],
    ['an implicit response type', { response_types: ['token'] }],
    ['a private key', { jwks: { keys: [{ kty: 'EC', d: 'x' }] } }],
    ['a name with direction marks', { client_name: 'Bank\u202egro.evil' }],
  ])('refuse a document with %s, and store nothing (threat S5)', async (_what, changes) => {
    const page = await ask(serve(changes))
    expect(page.status).toBe(400)
    expect(page.headers.get('location')).toBe(null)
    expect(await rowsOf()).toEqual([])
    expect(server.logged).toEqual([])
  })

  it.each([
    ['a list', '[]'],
    ['a string', '"x"'],
    ['null', 'null'],
    ['not JSON', '<html>'],
    ['too long', JSON.stringify({ x: 'a'.repeat(20_000) })],
  ])('refuse a document whose content is %s', async (_what, text) => {
    const id = serve()
    web.answer((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(text),
    )
    expect((await ask(id)).status).toBe(400)
  })

  it('refuse a redirect URI that is missing from the document', async () => {
    const page = await ask(serve(), { redirect_uri: 'https://evil.example/' })
    expect(page.status).toBe(400)
  })

  it('are repeated when the stored copy is stale, and then refuse redirect URIs that were removed (threat S5)', async () => {
    const id = serve()
    expect((await ask(id)).status).toBe(200)
    serve({ redirect_uris: ['https://app.example/new'], client_name: 'New name' })
    expect((await ask(id)).status).toBe(200)
    server.clock.advance({ minutes: 10 })
    expect((await ask(id)).status).toBe(400)
    const page = await ask(id, { redirect_uri: 'https://app.example/new' })
    expect(await page.text()).toContain('New name')
    expect(await rowsOf()).toHaveLength(1)
  })

  it('accept the stored copy for some time if the server of the document cannot be reached', async () => {
    const id = serve()
    const { access_token } = await runCodeFlow(server, { id, secret: '' })
    web.answer((_request, response) => response.writeHead(503).end())
    server.clock.advance({ minutes: 10 })
    const revoke = () => server.post('/oauth/revoke', { client_id: id, token: access_token })
    expect((await revoke()).status).toBe(200)
    server.clock.advance({ days: 1 })
    expect((await revoke()).status).toBe(400)
  })

  it('reject the client if its document was deleted', async () => {
    const id = serve()
    await runCodeFlow(server, { id, secret: '' })
    web.answer((_request, response) => response.writeHead(404).end())
    server.clock.advance({ minutes: 10 })
    expect((await ask(id)).status).toBe(400)
  })
})

describe('protection against misuse of client ID metadata documents:', () => {
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
  ])('%s is refused as a client_id', async (id) => {
    expect((await ask(id)).status).toBe(400)
    expect(web.asked).toEqual([])
  })

  it('a plain http URL is refused as a client_id', async () => {
    expect((await ask('http://app.example/client.json')).status).toBe(400)
  })

  it('a host name that resolves to a private address receives no request (threat S1)', async () => {
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

  it('a redirect is not followed (threat S1)', async () => {
    const id = serve()
    const location = web.urlOf('/inside', 'other.example')
    web.answer((_request, response) => response.writeHead(302, { location }).end())
    expect((await ask(id)).status).toBe(400)
    expect(web.asked).toHaveLength(1)
  })

  it('the id of the database row is refused as a client_id, because its document would never be fetched again (threat S5)', async () => {
    await ask(serve())
    const [row] = await rowsOf()
    expect(row?.id).toMatch(/^cimd_[\w-]{43}$/)
    expect((await ask(row?.id ?? '')).status).toBe(400)
    const form = { client_id: row?.id ?? '', token: 'x' }
    expect((await server.post('/oauth/revoke', form)).status).toBe(401)
  })

  it('a client that the operator has deleted stays deleted', async () => {
    const id = serve()
    await ask(id)
    const [row] = await rowsOf()
    await server.oauth.clients.revoke(row?.id ?? '')
    expect((await ask(id)).status).toBe(400)
    server.clock.advance({ minutes: 10 })
    expect((await ask(id)).status).toBe(400)
  })

  it('unused clients are deleted, and stored again when they are next used (threat S4)', async () => {
    const own = await start({ unusedExpireIn: '2d' })
    try {
      const id = serve()
      await ask(id, {}, own)
      own.clock.advance({ days: 4 })
      await own.oauth.purge()
      expect(await rowsOf(own)).toEqual([])
      expect((await ask(id, {}, own)).status).toBe(200)
      expect(await rowsOf(own)).toHaveLength(1)
    } finally {
      await own.close()
    }
  })

  it('a client that is used again before its row is deleted is kept', async () => {
    const own = await start({ unusedExpireIn: '2d' })
    try {
      const id = serve()
      await ask(id, {}, own)
      own.clock.advance({ days: 2 })
      own.clock.advance({ seconds: 1 })
      expect((await ask(id, {}, own)).status).toBe(200)
      own.clock.advance({ hours: 36 })
      await own.oauth.purge()
      expect((await ask(id, {}, own)).status).toBe(200)
      expect(await rowsOf(own)).toHaveLength(1)
    } finally {
      await own.close()
    }
  })

  describe('the limit on new documents per network', () => {
    /** The network address of the caller, from a test header. */
    const addressOf = (request: Request) => request.headers.get('x-caller')
    const askFrom = (address: string, path: string, at: TestServer) =>
      at.request(
        `/oauth/authorize?${new URLSearchParams({
          client_id: web.urlOf(path),
          response_type: 'code',
          redirect_uri: REDIRECT,
          ...CHALLENGE,
        })}`,
        {
          headers: { cookie: buildSessionCookie('ada'), accept: 'text/html', 'x-caller': address },
        },
      )
    const serveAny = () =>
      web.answer((request, response) => {
        const client_id = web.urlOf(request.url ?? '')
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ client_id, redirect_uris: [REDIRECT] }))
      })

    it('applies to new documents, and not to known ones (threat S4)', async () => {
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
        own.clock.advance({ seconds: 60 })
        expect((await ask('/3')).status).toBe(200)
      } finally {
        await own.close()
      }
    })

    it('does not affect other networks when one network sends sixty new documents of one host in a minute (threat Q6)', async () => {
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

    it('is not used up by links to the sign-in page, which cause no fetch (threat Q6)', async () => {
      serveAny()
      const query = new URLSearchParams({ client_id: web.urlOf('/new'), response_type: 'code' })
      expect(await server.oauth.findRequestingApplication(`/oauth/authorize?${query}`)).toBe(null)
      expect(web.asked).toEqual([])
      expect((await askFrom('192.0.2.1', '/new', server)).status).toBe(200)
      expect(
        await server.oauth.findRequestingApplication(`/oauth/authorize?${query}`),
      ).toMatchObject({
        verified: false,
      })
    })
  })

  it('the hosts option accepts only the listed hosts', async () => {
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
