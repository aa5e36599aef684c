import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import session from 'express-session'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { afterEach, describe, expect, it } from 'vitest'
import { forExpress } from '../../src/adapters/express.ts'
import { forFastify } from '../../src/adapters/fastify.ts'
import { forHono } from '../../src/adapters/hono.ts'
import { nodeListener } from '../../src/adapters/node.ts'
import type { AuthorizationServer, SignedIn } from '../../src/index.ts'
import { createClient, REDIRECT, startServer, type TestServer, type TestUser } from '../support.ts'

declare module 'express-session' {
  interface SessionData {
    userId: string
  }
}

type OAuth = AuthorizationServer<TestUser>

/** Applications whose own session knows who is signed in. `users.fromRequest()` finds no user. */
const apps: Record<string, (oauth: OAuth) => RequestListener | Promise<RequestListener>> = {
  'Express with express-session': (oauth) => {
    const { routes, freshToken } = forExpress(oauth, {
      signedIn: ({ session }) =>
        session.userId ? { id: session.userId, sessionId: session.id } : null,
    })
    const app = express()
    app.use(session({ secret: 'keyboard cat', resave: false, saveUninitialized: false }))
    app.post('/login', (request, response) => {
      request.session.userId = 'ada'
      response.end()
    })
    app.use(routes)
    app.get('/page', freshToken(), (_request, response) => {
      response.send(response.locals.csrfToken ?? 'nobody')
    })
    return app
  },
  async Fastify(oauth) {
    const { routes, freshToken } = forFastify(oauth, {
      signedIn: async (request) => request.getDecorator<SignedIn | null>('session'),
    })
    const app = createFastify()
    app.decorateRequest('session', null)
    app.addHook('onRequest', async (request) => {
      request.setDecorator('session', readOwnSession(request.headers.cookie))
    })
    app.post('/login', async (_request, reply) => reply.header('set-cookie', 'sid=ada').send())
    app.register(routes)
    app.get('/page', { onRequest: freshToken() }, async ({ csrfToken }) => csrfToken ?? 'nobody')
    await app.ready()
    return app.routing as RequestListener
  },
  Hono(oauth) {
    const { routes, freshToken } = forHono(oauth, { signedIn: (c) => c.get('session') })
    const app = new Hono<{ Variables: { session: SignedIn | null } }>()
    app.use(async (c, next) => {
      c.set('session', readOwnSession(c.req.header('cookie')))
      await next()
    })
    app.post('/login', (c) => c.body(null, 200, { 'set-cookie': 'sid=ada' }))
    app.use(routes)
    app.get('/page', freshToken(), (c) => c.text(c.get('csrfToken') ?? 'nobody'))
    return getRequestListener(app.fetch)
  },
  'plain Node'(oauth) {
    const signedIn = ({ headers }: IncomingMessage) => readOwnSession(headers.cookie)
    const listener = nodeListener(oauth, { signedIn })
    return (message, response) => {
      if (message.url === '/login') response.setHeader('set-cookie', 'sid=ada').end()
      else listener(message, response)
    }
  },
}

function readOwnSession(cookie = ''): SignedIn | null {
  const id = /(?:^|; )sid=(\w+)/.exec(cookie)?.[1]
  return id ? { id, sessionId: `session of ${id}` } : null
}

let stop: Array<() => unknown> = []
afterEach(async () => {
  for (const each of stop.reverse()) await each()
  stop = []
})

async function start(build: (typeof apps)[string]): Promise<TestServer> {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  const server = await startServer({ issuer: `http://127.0.0.1:${port}` })
  http.on('request', await build(server.oauth))
  stop.push(
    server.close,
    () => http.closeAllConnections(),
    () => http.close(),
  )
  return server
}

async function authorizeUrl(server: TestServer): Promise<URL> {
  const { id } = await createClient(server)
  const query = { client_id: id, redirect_uri: REDIRECT, response_type: 'code', scope: '' }
  return new URL(`/oauth/authorize?${new URLSearchParams(query)}`, server.url)
}

describe.each(Object.keys(apps))('the signedIn option of the adapter %s', (name) => {
  const build = apps[name] as (typeof apps)[string]

  it('identifies the person who approves', async () => {
    const server = await start(build)
    const login = await fetch(new URL('/login', server.url), { method: 'POST' })
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    const url = await authorizeUrl(server)
    const html = await (await fetch(url, { headers: { cookie } })).text()
    const action = /action="([^"]+)"/.exec(html)?.[1] ?? ''
    const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const approved = await fetch(new URL(action, server.url), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin: server.url },
      body: new URLSearchParams({ csrf_token, decision: 'approve' }),
    })
    expect(approved.headers.get('location')).toMatch(/^https:\/\/app\.example\/callback\?code=/)
    const [consent] = await server.oauth.consents.listByUser('ada')
    expect(consent?.clientId).toBe(url.searchParams.get('client_id'))
  })

  it('returns null for a visitor, who is then sent to the sign-in page whatever users.fromRequest() returns', async () => {
    const server = await start(build)
    const headers = { cookie: 'session=ada.1', accept: 'text/html' }
    const reply = await fetch(await authorizeUrl(server), { headers, redirect: 'manual' })
    expect(reply.status).toBe(303)
    expect(reply.headers.get('location')).toMatch(/^\/login\?return_to=/)
  })

  it.skipIf(name === 'plain Node')(
    "makes the adapter's pages set the cookie of cookie mode",
    async () => {
      const server = await start(build)
      const login = await fetch(new URL('/login', server.url), { method: 'POST' })
      const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
      const page = await fetch(new URL('/page', server.url), { headers: { cookie } })
      expect(await page.text()).toMatch(/^[\w-]{43}$/)
      expect(page.headers.getSetCookie().join()).toContain('tollgate_token=')
      expect(await (await fetch(new URL('/page', server.url))).text()).toBe('nobody')
    },
  )
})

describe('the signedIn option', () => {
  it('causes an error if it returns the caller that a guard identified, because a token is not a session', async () => {
    const server = await start((oauth) => {
      const { routes, auth } = forExpress(oauth, { signedIn: ({ user }) => user })
      return express().use(auth('api'), routes)
    })
    const { accessToken } = await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'x' })
    const headers = { authorization: `Bearer ${accessToken}` }
    const reply = await fetch(await authorizeUrl(server), { headers, redirect: 'manual' })
    expect(reply.status).toBe(500)
    expect(String(server.logged.flat()[1])).toContain("not the user of auth('api')")
  })

  it.each([{}, { id: null }, { id: '' }, { id: 'x'.repeat(256) }, { id: { $ne: 1 } }])(
    'causes a logged error if it returns the invalid user %j',
    async (found) => {
      const server = await start((oauth) =>
        nodeListener(oauth, { signedIn: () => found as unknown as SignedIn }),
      )
      expect((await fetch(await authorizeUrl(server))).status).toBe(500)
      expect(String(server.logged.flat()[1])).toContain('The id of a signed-in user')
    },
  )

  it('may return any object with a then() method', async () => {
    // biome-ignore lint/suspicious/noThenProperty: as older promise libraries have it.
    const later = { then: (done: (found: SignedIn) => void) => done({ id: 'ada' }) }
    const server = await start((oauth) =>
      nodeListener(oauth, { signedIn: () => later as Promise<SignedIn> }),
    )
    expect((await fetch(await authorizeUrl(server))).status).toBe(200)
  })

  it('is required only if people sign in at the server and users.fromRequest() is not given', async () => {
    const server = await startServer({ users: { findById: async () => null } })
    stop.push(server.close)
    const client = await createClient(server, { grants: ['client_credentials'] })
    const form = { grant_type: 'client_credentials', client_id: client.id }
    const issued = await server.post('/oauth/token', { ...form, client_secret: client.secret })
    expect(issued.status).toBe(200)
    const { pathname, search } = await authorizeUrl(server)
    expect((await server.request(pathname + search)).status).toBe(500)
    expect(String(server.logged.flat()[1])).toContain('users.fromRequest()')
  })
})
