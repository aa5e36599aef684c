import { createBilling } from '@tollgate/billing'
import { forExpress as expressBilling } from '@tollgate/billing/express'
import { forFastify as fastifyBilling } from '@tollgate/billing/fastify'
import { forHono as honoBilling } from '@tollgate/billing/hono'
import { forNext as nextBilling } from '@tollgate/billing/next'
import { nodeListener as nodeBilling } from '@tollgate/billing/node'
import { connect } from '@tollgate/database'
import type { HttpRequest, HttpResponse, HttpRoutes } from '@tollgate/http'
import { clientCredentials, createAuthorizationServer, memoryStorage } from '@tollgate/oauth'
import { forExpress } from '@tollgate/oauth/express'
import { forFastify } from '@tollgate/oauth/fastify'
import { forHono } from '@tollgate/oauth/hono'
import { forNext } from '@tollgate/oauth/next'
import { nodeListener } from '@tollgate/oauth/node'
import { onTestFinished } from 'vitest'
import type { Mounts } from './frameworks.ts'

export const BASE_URL = 'https://app.example'

/** Observations of a test from outside of the routes. */
export interface RouteObservations {
  /** Everything that was logged. */
  readonly logged: unknown[]
  /** URLs of the requests that the application's hook was called with. */
  readonly asked: string[]
  /** Promises of the responses that were requested from the routes. */
  readonly responses: Promise<unknown>[]
  /** How many times an adapter checked whether a path is known before it requested the response. */
  matchedBefore: number
  /** Blocks the routes until it resolves. */
  gate: Promise<void>
}

export interface Mounted {
  readonly mounts: Mounts
  readonly watch: RouteObservations
}

/** A package whose routes every framework can serve. */
export interface Subject {
  readonly name: string
  /** Path of a route that reads a body. */
  readonly posting: string
  /** Path of a route that calls the application's hook. */
  readonly asking: string
  /** Requests that the routes answer with 405: method, path, and the allowed methods. */
  readonly refusals: readonly (readonly [method: string, path: string, allow: string])[]
  mount(): Promise<Mounted>
}

interface Routes extends HttpRoutes {
  handles(path: string): boolean
  fetch(request: Request): Promise<Response>
}

function watchRoutes<T extends Routes>(routes: T, watch: RouteObservations): T {
  const note = <R>(response: Promise<R>): Promise<R> => {
    watch.responses.push(response)
    return response
  }
  async function handleAfterGate(request: HttpRequest): Promise<HttpResponse> {
    await watch.gate
    const response = await routes.handle(request)
    if (!response) throw new Error('handle() does not know what handles() knows')
    return response
  }
  return {
    ...routes,
    handles(path: string) {
      watch.matchedBefore += 1
      return routes.handles(path)
    },
    handle: (request: HttpRequest) =>
      routes.handles(request.path) ? note(handleAfterGate(request)) : null,
    fetch: (request: Request) => note(watch.gate.then(() => routes.fetch(request))),
  }
}

function createWatch(): RouteObservations {
  return { logged: [], asked: [], responses: [], matchedBefore: 0, gate: Promise.resolve() }
}

export const oauthSubject: Subject = {
  name: 'oauth',
  posting: '/oauth/token',
  asking: '/oauth/clients?x=1',
  refusals: [
    ['PUT', '/oauth/token', 'POST'],
    ['PATCH', '/oauth/token', 'POST'],
    ['OPTIONS', '/oauth/token', 'POST'],
    ['DELETE', '/.well-known/jwks.json', 'GET, HEAD'],
    ['PUT', '/oauth/clients', 'GET, HEAD, POST'],
    ['GET', '/oauth/clients/a', 'PUT, DELETE'],
  ],
  async mount() {
    const watch = createWatch()
    const oauth = createAuthorizationServer({
      issuer: BASE_URL,
      secret: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
      storage: memoryStorage(),
      users: {
        findById: () => null,
        fromRequest(request) {
          watch.asked.push(request.url)
          return null
        },
      },
      scopes: {},
      grants: [clientCredentials()],
      logger: { error: (...words: unknown[]) => watch.logged.push(words) },
    })
    onTestFinished(() => oauth.close())
    await oauth.ready()
    const watched = watchRoutes(oauth, watch)
    return {
      watch,
      mounts: {
        express: forExpress(watched).routes,
        fastify: forFastify(watched).routes,
        hono: forHono(watched).routes,
        next: forNext(watched).handlers,
        node: nodeListener(watched),
      },
    }
  },
}

export const billingSubject: Subject = {
  name: 'billing',
  posting: '/stripe/webhook',
  asking: '/user/invoice/in_1?x=1',
  refusals: [
    ['PUT', '/stripe/webhook', 'POST'],
    ['GET', '/stripe/webhook', 'POST'],
    ['OPTIONS', '/stripe/webhook', 'POST'],
    ['DELETE', '/braintree/webhook', 'POST, GET, HEAD'],
    ['GET', '/braintree/webhook', 'POST'],
    ['PUT', '/user/invoice/in_1', 'GET, HEAD'],
    ['POST', '/user/invoice/in_1', 'GET, HEAD'],
  ],
  async mount() {
    const watch = createWatch()
    const database = await connect('sqlite::memory:')
    await database.kysely.schema.createTable('users').addColumn('id', 'integer').execute()
    const keys = { merchantId: 'm', publicKey: 'p', privateKey: 'k' }
    const billing = createBilling({
      database,
      users: { table: 'users' },
      stripe: { secret: 'sk_test_1', webhookSecret: 'whsec_1' },
      braintree: { environment: 'sandbox', ...keys },
      baseUrl: BASE_URL,
      authenticate(request) {
        watch.asked.push(request.url)
        return null
      },
      invoice: { vendor: 'Tollgate Ltd', product: 'Gold' },
      processEvery: false,
      logger: { error: (...words: unknown[]) => watch.logged.push(words) },
    })
    onTestFinished(async () => {
      await billing.close()
      await database.close()
    })
    await billing.migrate()
    const watched = watchRoutes(billing, watch)
    return {
      watch,
      mounts: {
        express: expressBilling(watched).routes,
        fastify: fastifyBilling(watched).routes,
        hono: honoBilling(watched).routes,
        next: nextBilling(watched).handlers,
        node: nodeBilling(watched),
      },
    }
  },
}
