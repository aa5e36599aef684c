import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decideInBrowser } from '../clients/browser.ts'
import { buildSessionCookie, createClient, REDIRECT } from '../support.ts'
import { openPage } from './credentials.ts'
import { type App, frameworks } from './frameworks.ts'

describe.each(frameworks)('routes mounted in $name', (framework) => {
  let app: App
  beforeAll(async () => {
    app = await framework.start()
  })
  afterAll(() => app.close())

  async function redeem(client: { id: string; secret: string }, code: string | null) {
    const reply = await app.fetch('/oauth/token', {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        redirect_uri: REDIRECT,
        code: code ?? '',
      }),
    })
    expect(reply.headers.get('cache-control')).toBe('no-store')
    return { status: reply.status, body: await reply.json() }
  }

  it('lead from the approval screen to a token that the API accepts', async () => {
    const client = await createClient(app)
    const params = new URLSearchParams({
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'place-orders check-status',
      state: 'a b&c=ü',
    })
    const callback = await decideInBrowser(`${app.url}/oauth/authorize?${params}`, {
      fetch: app.fetch,
    })
    expect(callback.searchParams.get('state')).toBe('a b&c=ü')
    const { status, body } = await redeem(client, callback.searchParams.get('code'))
    expect(status).toBe(200)
    const orders = await app.fetch('/orders', {
      headers: { authorization: `Bearer ${body.access_token}` },
    })
    expect(await orders.json()).toEqual(['an order'])
  })

  it('send a person who is not signed in to the sign-in page and back', async () => {
    const client = await createClient(app)
    const query = `client_id=${client.id}&response_type=code&state=%C3%BC`
    const reply = await app.fetch(`/oauth/authorize?${query}`, { headers: { accept: 'text/html' } })
    expect(reply.status).toBe(303)
    const location = new URL(reply.headers.get('location') ?? '', app.url)
    expect(location.pathname).toBe('/login')
    expect(location.searchParams.get('return_to')).toBe(`/oauth/authorize?${query}`)
  })

  it('respond with 401 invalid_client and a challenge to a client with wrong credentials', async () => {
    const { status, body } = await redeem({ id: 'nobody', secret: 'wrong' }, 'x')
    expect(status).toBe(401)
    expect(body).toMatchObject({ error: 'invalid_client' })
  })

  it('create, list, change and delete clients through JSON', async () => {
    const { cookie, csrfToken } = await openPage(app, 'session=bob.clients')
    const headers = {
      cookie,
      accept: 'application/json',
      'x-csrf-token': csrfToken,
      'content-type': 'application/json',
    }
    const send = (method: string, path: string, body?: object) =>
      app.fetch(path, {
        method,
        headers,
        ...(body ? { body: JSON.stringify(body) } : {}),
      })

    const created = await send('POST', '/oauth/clients', { name: 'Ünïcode', redirect: REDIRECT })
    expect(created.status).toBe(201)
    const client = await created.json()
    expect(client).toMatchObject({ name: 'Ünïcode', redirect: REDIRECT, user_id: 'bob' })
    expect(client.secret).toEqual(expect.any(String))

    const { secret: _, ...withoutSecret } = client
    expect(await (await send('GET', '/oauth/clients')).json()).toEqual([withoutSecret])

    const change = { name: 'Renamed', redirect: 'https://new.example/callback' }
    const changed = await send('PUT', `/oauth/clients/${client.id}`, change)
    expect(changed.status).toBe(200)
    expect(await changed.json()).toMatchObject(change)

    const deleted = await app.fetch(`/oauth/clients/${client.id}`, {
      method: 'DELETE',
      headers: { cookie, 'x-csrf-token': csrfToken },
    })
    expect(deleted.status).toBe(204)
    expect(await deleted.text()).toBe('')
    expect(await (await send('GET', '/oauth/clients')).json()).toEqual([])
  })

  it('respond with 422 and messages for each field when a client is invalid', async () => {
    const { cookie, csrfToken } = await openPage(app)
    const reply = await app.fetch('/oauth/clients', {
      method: 'POST',
      headers: { cookie, 'x-csrf-token': csrfToken, 'content-type': 'application/json' },
      body: '{"name":""}',
    })
    expect(reply.status).toBe(422)
    expect(await reply.json()).toMatchObject({
      errors: { name: [expect.any(String)], redirect: [expect.any(String)] },
    })
  })

  it('refuse to change anything without the CSRF token', async () => {
    const reply = await app.fetch('/oauth/clients', {
      method: 'POST',
      headers: { cookie: buildSessionCookie('ada'), 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Forged', redirect: REDIRECT }),
    })
    expect(reply.status).toBe(403)
    expect(await app.oauth.clients.listByUser('ada')).toEqual([])
  })

  it('publish the metadata and the keys', async () => {
    const metadata = await app.fetch('/.well-known/oauth-authorization-server')
    expect(await metadata.json()).toMatchObject({ issuer: app.url })
    const keys = await app.fetch('/.well-known/jwks.json')
    expect(await keys.json()).toMatchObject({ keys: [{ kid: expect.any(String), use: 'sig' }] })
    expect(keys.headers.get('cache-control')).toContain('public')
  })

  it.each(['/.well-known/jwks.json', '/oauth/pages.css', '/oauth/clients'])(
    'respond to HEAD %s like GET, without the body',
    async (path) => {
      const get = await app.fetch(path)
      const content = await get.arrayBuffer()
      const head = await app.fetch(path, { method: 'HEAD' })
      expect(head.status).toBe(get.status)
      expect((await head.arrayBuffer()).byteLength).toBe(0)
      for (const name of ['content-type', 'cache-control', 'content-security-policy']) {
        expect(head.headers.get(name)).toBe(get.headers.get(name))
      }
      expect(head.headers.get('content-length')).toBe(String(content.byteLength))
    },
  )

  it.each(['PUT', 'PATCH', 'HEAD', 'OPTIONS'])(
    'respond to the method %s with 405 and the allowed methods',
    async (method) => {
      const reply = await app.fetch('/oauth/token', { method })
      expect(reply.status).toBe(405)
      expect(reply.headers.get('allow')).toBe('POST')
    },
  )

  it('refuse HEAD at the authorization endpoint, where GET may issue a code', async () => {
    const reply = await app.fetch('/oauth/authorize', { method: 'HEAD' })
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE'])
  })

  it('refuse a request that contains a parameter twice', async () => {
    const reply = await app.fetch('/oauth/token', {
      method: 'POST',
      body: new URLSearchParams('grant_type=password&grant_type=client_credentials'),
    })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_request' })
  })

  it('refuse a token request that is not a form with 400 invalid_request', async () => {
    const reply = await app.fetch('/oauth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"grant_type":"client_credentials"}',
    })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_request' })
  })

  it('refuse malformed JSON with 400', async () => {
    const { cookie, csrfToken } = await openPage(app)
    const reply = await app.fetch('/oauth/clients', {
      method: 'POST',
      headers: { cookie, 'x-csrf-token': csrfToken, 'content-type': 'application/json' },
      body: '{"name":',
    })
    expect(reply.status).toBe(400)
  })

  it.each([
    ['with a Content-Length', (size: number) => 'x'.repeat(size)],
    ['in chunks', inPieces],
  ])(
    'refuse with 413 a body above the size limit, sent %s, and keep serving requests',
    async (_how, bodyOf) => {
      for (const size of [200_000, 5_000_000]) {
        const reply = await app.fetch('/oauth/token', {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: bodyOf(size),
          // `fetch` requires this for a stream; the DOM types do not know it yet.
          ...{ duplex: 'half' },
        })
        expect(reply.status).toBe(413)
      }
      expect(await (await app.fetch('/open')).text()).toBe('open')
    },
  )

  it("do not affect the application's other routes", async () => {
    expect(await (await app.fetch('/open')).text()).toBe('open')
    const note = await app.fetch('/notes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"hello"}',
    })
    expect(note.status).toBe(201)
    expect(await note.json()).toEqual({ text: 'hello' })
    expect((await app.fetch('/nowhere')).status).toBe(404)
    expect((await app.fetch('/oauth/nowhere')).status).toBe(404)
  })
})

function inPieces(size: number): ReadableStream<Uint8Array> {
  let left = size
  return new ReadableStream({
    pull(controller) {
      const piece = new Uint8Array(Math.min(left, 50_000)).fill(0x78)
      left -= piece.length
      controller.enqueue(piece)
      if (left === 0) controller.close()
    },
  })
}
