import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { forExpress } from '../../src/adapters/express.ts'
import { forFastify } from '../../src/adapters/fastify.ts'
import { forHono, type HonoGuardVariables } from '../../src/adapters/hono.ts'
import { forNext, type NextAdapter, type RouteHandler } from '../../src/adapters/next.ts'
import type { AuthenticatedUser } from '../../src/index.ts'
import { startServer, type TestServer, type TestServerOptions, type TestUser } from '../support.ts'

/** A small application, written for each framework in the style of its documentation. */
export interface App extends TestServer {
  /** Names of the handlers that ran, in order. */
  readonly reached: string[]
  fetch(path: URL | string, init?: RequestInit): Promise<Response>
}

export interface Framework {
  readonly name: string
  /** Whether the application listens on a port. Otherwise it takes `Request` objects. */
  readonly overHttp: boolean
  start(options?: TestServerOptions): Promise<App>
}

type Build = (server: TestServer, reached: string[]) => RequestListener | Promise<RequestListener>

export function overHttp(name: string, build: Build): Framework {
  return {
    name,
    overHttp: true,
    async start(options) {
      const http = createServer()
      await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
      const { port } = http.address() as AddressInfo
      const server = await startServer({ issuer: `http://127.0.0.1:${port}`, ...options })
      const reached: string[] = []
      http.on('request', await build(server, reached))
      return {
        ...server,
        reached,
        fetch: (path, init) => fetch(new URL(path, server.url), { redirect: 'manual', ...init }),
        async close() {
          http.closeAllConnections()
          await new Promise((resolve) => http.close(resolve))
          await server.close()
        },
      }
    },
  }
}

/** Builds the response body of `GET /me`. */
async function describeUser(user: AuthenticatedUser | undefined) {
  return {
    id: user?.id,
    record: await user?.find(),
    mayPlace: user?.tokenCan('place-orders'),
    mayCheck: user?.tokenCan('check-status'),
  }
}

function pageWith(csrfToken: string | null): string {
  return `<!doctype html><meta name="csrf-token" content="${csrfToken ?? ''}">`
}

function buildExpress(parsers: 'before' | 'after'): Build {
  return ({ oauth }, reached) => {
    const { routes, auth, scopes, scope, user, freshToken } = forExpress(oauth)
    const bodyParsers = [express.json(), express.urlencoded({ extended: true })]
    const app = express()
    if (parsers === 'before') app.use(bodyParsers)
    app.use(routes)
    if (parsers === 'after') app.use(bodyParsers)
    app.get(
      '/orders',
      auth('api'),
      scopes('place-orders', 'check-status'),
      (_request, response) => {
        reached.push('orders')
        response.json(['an order'])
      },
    )
    app.get('/status', auth('api'), scope('place-orders', 'check-status'), (_request, response) => {
      reached.push('status')
      response.json('shipped')
    })
    app.get('/me', auth(), async (request, response) => {
      reached.push('me')
      response.json(await describeUser(user(request)))
    })
    app.get('/machine', auth('client'), scopes('check-status'), (request, response) => {
      reached.push('machine')
      response.json({ client: request.oauthClient?.clientId })
    })
    app.get('/careless', scopes('place-orders'), (_request, response) => {
      reached.push('careless')
      response.json('secret')
    })
    app.use('/guarded', auth('api'))
    app.get('/guarded/report', (_request, response) => {
      reached.push('report')
      response.json('secret')
    })
    app.get('/page', freshToken(), (_request, response) => {
      response.append('set-cookie', 'theme=dark')
      response.type('html').send(pageWith(response.locals.csrfToken))
    })
    app.post('/page', freshToken(), (_request, response) => {
      response.type('html').send(pageWith(response.locals.csrfToken))
    })
    app.get('/moved', freshToken(), (_request, response) => response.redirect(303, '/page'))
    app.post('/notes', (request, response) => {
      response.status(201).json(request.body)
    })
    app.get('/open', (_request, response) => {
      response.send('open')
    })
    const quietly: express.ErrorRequestHandler = (error, _request, response, _next) => {
      response.status(error.status ?? 500).json({ problem: String(error.message) })
    }
    app.use(quietly)
    return app
  }
}

const buildFastify: Build = async ({ oauth }, reached) => {
  const { routes, auth, scopes, scope, user, freshToken } = forFastify(oauth)
  const app = createFastify()
  app.register(routes)
  const both = [auth('api'), scopes('place-orders', 'check-status')]
  app.get('/orders', { onRequest: both }, async () => {
    reached.push('orders')
    return ['an order']
  })
  const either = [auth('api'), scope('place-orders', 'check-status')]
  app.get('/status', { onRequest: either }, async () => {
    reached.push('status')
    return '"shipped"'
  })
  app.get('/me', { onRequest: auth() }, async (request) => {
    reached.push('me')
    return describeUser(user(request))
  })
  const machine = [auth('client'), scopes('check-status')]
  app.get('/machine', { onRequest: machine }, async (request) => {
    reached.push('machine')
    return { client: request.oauthClient?.clientId }
  })
  app.get('/careless', { onRequest: scopes('place-orders') }, async () => {
    reached.push('careless')
    return 'secret'
  })
  app.register(
    async (guarded) => {
      guarded.addHook('onRequest', auth('api'))
      guarded.get('/report', async () => {
        reached.push('report')
        return 'secret'
      })
    },
    { prefix: '/guarded' },
  )
  app.get('/page', { onRequest: freshToken() }, async (request, reply) => {
    reply.header('set-cookie', 'theme=dark').type('text/html')
    return pageWith(request.csrfToken ?? null)
  })
  app.post('/page', { onRequest: freshToken() }, async (request, reply) => {
    reply.type('text/html')
    return pageWith(request.csrfToken ?? null)
  })
  app.get('/moved', { onRequest: freshToken() }, async (_request, reply) =>
    reply.redirect('/page', 303),
  )
  app.post('/notes', async (request, reply) => reply.code(201).send(request.body))
  app.get('/open', async () => 'open')
  await app.ready()
  return (request, response) => app.routing(request, response)
}

const buildHono: Build = ({ oauth }, reached) => {
  const { routes, auth, scopes, scope, freshToken } = forHono(oauth as TypedServer)
  const app = new Hono<{ Variables: HonoGuardVariables<TestUser> }>()
  app.use(routes)
  app.get('/orders', auth('api'), scopes('place-orders', 'check-status'), (c) => {
    reached.push('orders')
    return c.json(['an order'])
  })
  app.get('/status', auth('api'), scope('place-orders', 'check-status'), (c) => {
    reached.push('status')
    return c.json('shipped')
  })
  app.get('/me', auth(), async (c) => {
    reached.push('me')
    return c.json(await describeUser(c.get('user')))
  })
  app.get('/machine', auth('client'), scopes('check-status'), (c) => {
    reached.push('machine')
    return c.json({ client: c.get('oauthClient').clientId })
  })
  app.get('/careless', scopes('place-orders'), (c) => {
    reached.push('careless')
    return c.json('secret')
  })
  app.use('/guarded/*', auth('api'))
  app.get('/guarded/report', (c) => {
    reached.push('report')
    return c.json('secret')
  })
  app.get('/page', freshToken(), (c) => {
    c.header('set-cookie', 'theme=dark')
    return c.html(pageWith(c.get('csrfToken')))
  })
  app.post('/page', freshToken(), (c) => c.html(pageWith(c.get('csrfToken'))))
  // `Response.redirect()` has immutable headers, as has a response of `fetch()`.
  app.get('/moved', freshToken(), (c) => Response.redirect(new URL('/page', c.req.url), 303))
  app.post('/notes', async (c) => c.json(await c.req.json(), 201))
  app.get('/open', (c) => c.text('open'))
  app.onError((error, c) => c.json({ problem: error.message }, 500))
  return getRequestListener(app.fetch)
}

type TypedServer = TestServer['oauth']

type RouteFile = Partial<Record<string, RouteHandler>>

/**
 * Returns the route files of the application: the handlers that each file exports, by the path of
 * the file.
 */
function routeFiles(adapter: NextAdapter<TestUser>, reached: string[]): Map<string, RouteFile> {
  const { handlers, auth, scopes, scope, freshToken } = adapter
  return new Map<string, RouteFile>([
    ['/oauth/[...path]', handlers],
    ['/.well-known/[...path]', handlers],
    [
      '/orders',
      {
        GET: auth('api', scopes('place-orders', 'check-status'), () => {
          reached.push('orders')
          return Response.json(['an order'])
        }),
      },
    ],
    [
      '/status',
      {
        GET: auth('api', scope('place-orders', 'check-status'), () => {
          reached.push('status')
          return Response.json('shipped')
        }),
      },
    ],
    [
      '/me',
      {
        GET: auth('api', async (_request, { user }) => {
          reached.push('me')
          return Response.json(await describeUser(user))
        }),
      },
    ],
    [
      '/machine',
      {
        GET: auth('client', scopes('check-status'), (_request, { user }) => {
          reached.push('machine')
          return Response.json({ client: user.clientId })
        }),
      },
    ],
    [
      '/page',
      {
        GET: freshToken((_request, { csrfToken }) => {
          const headers = { 'content-type': 'text/html', 'set-cookie': 'theme=dark' }
          return new Response(pageWith(csrfToken), { headers })
        }),
        POST: freshToken((_request, { csrfToken }) => new Response(pageWith(csrfToken))),
      },
    ],
    [
      '/moved',
      { GET: freshToken((request) => Response.redirect(new URL('/page', request.url), 303)) },
    ],
    ['/notes', { POST: async (request) => Response.json(await request.json(), { status: 201 }) }],
    ['/open', { GET: () => new Response('open') }],
  ])
}

const next = (name: string, adapt: (oauth: TypedServer) => NextAdapter<TestUser>): Framework => ({
  name,
  overHttp: false,
  async start(options) {
    const server = await startServer(options)
    const reached: string[] = []
    const files = routeFiles(adapt(server.oauth), reached)
    return {
      ...server,
      reached,
      async fetch(path, init) {
        const request = new Request(new URL(path, server.url), init)
        const { pathname } = new URL(request.url)
        const catchAll = pathname.replace(/^(\/[^/]+\/).*$/, '$1[...path]')
        const file = files.get(pathname) ?? files.get(catchAll)
        if (!file) return new Response('Not Found', { status: 404 })
        const handler = file[request.method] ?? (request.method === 'HEAD' ? file.GET : undefined)
        const params = Promise.resolve({ path: pathname.split('/').slice(2) })
        return handler ? handler(request, { params }) : new Response(null, { status: 405 })
      },
    }
  },
})

export const frameworks: readonly Framework[] = [
  overHttp('Express', buildExpress('after')),
  overHttp('Express behind its body parsers', buildExpress('before')),
  overHttp('Fastify', buildFastify),
  overHttp('Hono', buildHono),
  next('Next', forNext),
  next('Next, opened by the first request', (oauth) => forNext(async () => oauth)),
]
