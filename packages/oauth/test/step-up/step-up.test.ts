import express from 'express'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { afterEach, describe, expect, it } from 'vitest'
import { forExpress } from '../../src/adapters/express.ts'
import { forFastify } from '../../src/adapters/fastify.ts'
import { forHono } from '../../src/adapters/hono.ts'
import { forNext } from '../../src/adapters/next.ts'
import { type SignedIn, type StepUpDemand, stepUp } from '../../src/index.ts'
import { claimsOf } from '../dpop/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  type TestServer,
  TestUsers,
} from '../support.ts'

/** Users whose time and method of sign-in the test sets. */
class UsersWithSignIns extends TestUsers {
  at: Date | null = null
  acr: string | null = null

  override async fromRequest(request: Request): Promise<SignedIn | null> {
    const person = await super.fromRequest(request)
    return (
      person && {
        ...person,
        ...(this.at && { authenticatedAt: this.at }),
        ...(this.acr !== null && { acr: this.acr }),
      }
    )
  }
}

let server: TestServer
afterEach(() => server.close())

async function start(features = [stepUp({ acrValues: ['pwd', 'mfa'] })]) {
  const people = new UsersWithSignIns()
  server = await startServer({ users: people, features })
  people.at = server.clock.now()
  people.acr = 'pwd'
  return people
}

type Call = (authorization: string) => Promise<Response>

/** One guarded route in each framework. */
const apps: Record<string, (server: TestServer, demand: StepUpDemand) => Promise<Call>> = {
  async Express({ oauth }, demand) {
    const { auth, stepUp } = forExpress(oauth)
    const app = express()
    app.get('/transfer', auth('api'), stepUp(demand), (_request, response) => {
      response.send('done')
    })
    return async (authorization) => {
      const http = app.listen(0, '127.0.0.1')
      await new Promise((resolve) => http.once('listening', resolve))
      const { port } = http.address() as { port: number }
      const reply = await fetch(`http://127.0.0.1:${port}/transfer`, { headers: { authorization } })
      const copy = new Response(await reply.text(), {
        status: reply.status,
        headers: reply.headers,
      })
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
      return copy
    }
  },
  async Fastify({ oauth }, demand) {
    const { auth, stepUp } = forFastify(oauth)
    const app = createFastify()
    app.get('/transfer', { onRequest: [auth('api'), stepUp(demand)] }, async () => 'done')
    return async (authorization) => {
      const reply = await app.inject({ url: '/transfer', headers: { authorization } })
      const headers = Object.entries(reply.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ])
      return new Response(reply.body, { status: reply.statusCode, headers })
    }
  },
  async Hono({ oauth }, demand) {
    const { auth, stepUp } = forHono(oauth)
    const app = new Hono()
    app.get('/transfer', auth('api'), stepUp(demand), (c) => c.text('done'))
    return async (authorization) => app.request('/transfer', { headers: { authorization } })
  },
  async Next({ oauth }, demand) {
    const { auth, stepUp } = forNext(oauth)
    const GET = auth('api', stepUp(demand), () => new Response('done'))
    return async (authorization) =>
      GET(new Request('http://localhost:4999/transfer', { headers: { authorization } }), {})
  },
}

describe.each(Object.keys(apps))('a route that requires step-up authentication, in %s', (name) => {
  const build = (demand: StepUpDemand) => {
    const make = apps[name]
    if (!make) throw new Error(name)
    return make(server, demand)
  }

  it('accepts a recent sign-in, and returns a challenge with max_age if the sign-in is too long ago', async () => {
    await start()
    const { access_token } = await runCodeFlow(server, await createClient(server))
    const call = await build({ maxAge: '15m' })
    expect((await call(`Bearer ${access_token}`)).status).toBe(200)
    server.clock.advance({ minutes: 16 })
    const reply = await call(`Bearer ${access_token}`)
    expect(reply.status).toBe(401)
    const challenge = reply.headers.get('www-authenticate')
    expect(challenge).toContain('Bearer realm="api", error="insufficient_user_authentication"')
    expect(challenge).toContain('max_age="900"')
    expect(await reply.json()).toMatchObject({ error: 'insufficient_user_authentication' })
  })

  it('returns a challenge with acr_values until the person has signed in by one of these methods', async () => {
    const people = await start()
    const client = await createClient(server)
    const call = await build({ acr: ['mfa', 'passkey'] })
    const weak = await runCodeFlow(server, client)
    const reply = await call(`Bearer ${weak.access_token}`)
    expect(reply.status).toBe(401)
    expect(reply.headers.get('www-authenticate')).toContain('acr_values="mfa passkey"')
    people.acr = 'mfa'
    const strong = await runCodeFlow(server, client)
    expect((await call(`Bearer ${strong.access_token}`)).status).toBe(200)
  })
})

describe('the feature stepUp()', () => {
  it('adds to access tokens when and how the person signed in (auth_time, acr)', async () => {
    const people = await start()
    const { access_token } = await runCodeFlow(server, await createClient(server))
    const at = Math.floor((people.at?.getTime() ?? 0) / 1000)
    expect(claimsOf(access_token)).toMatchObject({ acr: 'pwd', auth_time: at })
  })

  it('is required for auth_time and acr in access tokens, and for guard.stepUp()', async () => {
    await start([])
    const { access_token } = await runCodeFlow(server, await createClient(server))
    expect(claimsOf(access_token)).not.toHaveProperty('auth_time')
    expect(claimsOf(access_token)).not.toHaveProperty('acr')
    expect(() => server.oauth.guard.stepUp({ maxAge: 60 })).toThrow(TypeError)
  })

  it.each([{}, { acr: [] }, { acr: 'a b' }, { acr: 'a"b' }, { maxAge: 0 }, { maxAge: 'soon' }])(
    'rejects the requirement %j',
    async (demand) => {
      await start()
      expect(() => server.oauth.guard.stepUp(demand)).toThrow(TypeError)
    },
  )

  it('rejects callers whose sign-in time is unknown or in the future, such as personal access tokens and cookie mode', async () => {
    const people = await start()
    const check = server.oauth.guard.stepUp({ maxAge: '15m' })
    const { accessToken } = await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'x' })
    const nothing = { authorization: null, cookie: null, csrfToken: null }
    const personal = { ...nothing, authorization: `Bearer ${accessToken}` }
    const { cookie, csrfToken } = await server.cookieMode('ada')
    people.at = new Date(server.clock.now().getTime() + 3600_000)
    const { access_token } = await runCodeFlow(server, await createClient(server))
    const future = { ...nothing, authorization: `Bearer ${access_token}` }
    for (const credentials of [personal, { ...nothing, cookie, csrfToken }, future]) {
      const caller = await server.oauth.guard.authenticate('api', credentials)
      expect(() => check(caller)).toThrow(
        expect.objectContaining({ code: 'insufficient_user_authentication' }),
      )
    }
  })

  it('sends people to the sign-in page once, with the requested acr_values', async () => {
    const people = await start()
    const client = await createClient(server)
    const params = {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'place-orders',
      acr_values: 'mfa',
    }
    const sent = new URL(
      (await requestAuthorization(server, 'ada', params)).headers.get('location') ?? '',
      server.url,
    )
    expect(sent.pathname).toBe('/login')
    expect(sent.searchParams.get('acr_values')).toBe('mfa')
    expect(sent.searchParams.get('prompt')).toBe('login')
    const back = new URL(sent.searchParams.get('return_to') ?? '', server.url)
    const again = await requestAuthorization(server, 'ada', Object.fromEntries(back.searchParams))
    expect(again.status).toBe(200)
    people.acr = 'mfa'
    expect((await requestAuthorization(server, 'ada', params)).status).toBe(200)
  })

  it('is listed in the metadata', async () => {
    await start()
    const reply = await server.request('/.well-known/oauth-authorization-server')
    expect(await reply.json()).toMatchObject({ acr_values_supported: ['pwd', 'mfa'] })
  })
})
