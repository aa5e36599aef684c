import { createGate, type Gate, meter, plan } from '@tollgate/gate'
import { forHono as gateForHono } from '@tollgate/gate/hono'
import { password, refreshToken } from '@tollgate/oauth'
import { forHono } from '@tollgate/oauth/hono'
import { Hono } from 'hono'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createClient,
  startServer,
  type TestServer,
  type TokenReply,
} from '../../oauth/test/support.ts'

const ADA = { grant_type: 'password', username: 'ada@example.com', password: 'correct horse' }

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function createApp(server: TestServer, gate: Gate<'calls'>): Hono {
  const { auth, scopes } = forHono(server.oauth)
  const { admit } = gateForHono(gate)
  const app = new Hono()
  app.get('/status', auth('api'), scopes('check-status'), admit('calls'), (c) => c.text('fine'))
  app.get('/orders', auth('api'), scopes('place-orders'), admit('calls'), (c) => c.text('fine'))
  app.get('/can', auth('api'), (c) => c.json(c.get('user').tokenCan('place-orders')))
  return app
}

async function start() {
  const server = await startServer({ grants: [password(), refreshToken()] })
  closing.push(() => server.close())
  const plans = new Map<string, string>()
  const create = () => {
    const gate = createGate({
      database: server.database,
      oauth: server.oauth,
      clock: server.clock,
      meters: { calls: meter({ kind: 'count' }) },
      plans: {
        free: plan({ scopes: ['check-status'], quota: { calls: '3/month' } }),
        pro: plan({ scopes: ['check-status', 'place-orders'], quota: { calls: '100/month' } }),
      },
      otherwise: 'free',
      upgradeUrl: 'https://shop.example/plans',
      planOf: ({ id }) => plans.get(String(id)) ?? null,
    })
    closing.push(() => gate.close())
    return gate
  }
  const gate = create()
  const app = createApp(server, gate)
  const client = await createClient(server, { grants: ['password', 'refresh_token'] })
  const request = async (form: Record<string, string>): Promise<TokenReply> => {
    const own = { client_id: client.id, client_secret: client.secret }
    const response = await server.post('/oauth/token', { ...form, ...own })
    expect(response.status).toBe(200)
    return (await response.json()) as TokenReply
  }
  const get = (path: string, token: string) =>
    app.request(path, { headers: { authorization: `Bearer ${token}` } })
  return { server, gate, plans, client, request, get }
}

describe('an access token whose user has a plan (threat N6, threat Q10)', () => {
  it('allows only the scopes of the plan, and other scopes as soon as the plan changes', async () => {
    const { gate, plans, request, get } = await start()
    const { access_token: token } = await request({
      ...ADA,
      scope: 'check-status place-orders',
    })
    expect((await get('/status', token)).status).toBe(200)
    const refused = await get('/orders', token)
    expect(refused.status).toBe(402)
    expect(refused.headers.get('www-authenticate')).toBeNull()
    expect(await refused.json()).toMatchObject({
      reason: 'scope_not_in_plan',
      plan: 'free',
      missing: ['place-orders'],
      upgrade_url: 'https://shop.example/plans',
    })
    expect(await (await get('/can', token)).json()).toBe(false)
    plans.set('ada', 'pro')
    await gate.refresh({ type: 'user', id: 'ada' })
    expect((await get('/orders', token)).status).toBe(200)
    expect(await (await get('/can', token)).json()).toBe(true)
    plans.delete('ada')
    await gate.refresh({ type: 'user', id: 'ada' })
    expect((await get('/orders', token)).status).toBe(402)
  })

  it('gets 403 for a scope that the token lacks, and 402 once the quota is used up', async () => {
    const { request, get } = await start()
    const { access_token: token } = await request({ ...ADA, scope: 'check-status' })
    expect((await get('/orders', token)).status).toBe(403)
    const statuses: number[] = []
    for (let call = 0; call < 4; call += 1) statuses.push((await get('/status', token)).status)
    expect(statuses).toEqual([200, 200, 200, 402])
  })

  it('keeps its granted scopes when it is refreshed, and the response lists those that the plan allows now', async () => {
    const { gate, plans, request, get } = await start()
    const granted = await request({ ...ADA, scope: 'check-status place-orders' })
    expect(granted.scope).toBe('check-status')
    plans.set('ada', 'pro')
    await gate.refresh({ type: 'user', id: 'ada' })
    const { refresh_token } = granted
    const fresh = await request({ grant_type: 'refresh_token', refresh_token })
    expect(fresh.scope.split(' ').sort()).toEqual(['check-status', 'place-orders'])
    expect((await get('/orders', fresh.access_token)).status).toBe(200)
  })

  it('is limited to the scopes of the plan even with the scope *', async () => {
    const { request, get } = await start()
    const { access_token: token } = await request({ ...ADA, scope: '*' })
    expect((await get('/status', token)).status).toBe(200)
    expect((await get('/orders', token)).status).toBe(402)
  })
})

it('createGate() rejects a plan with a scope that the authorization server does not have', async () => {
  const { server } = await start()
  const create = () =>
    createGate({
      database: server.database,
      oauth: server.oauth,
      meters: {},
      plans: { free: plan({ scopes: ['check-staus'] }) },
      otherwise: 'free',
    })
  expect(create).toThrow(
    'plans.free.scopes: the authorization server has no scope "check-staus". Add it to its option scopes, or remove it here. It has place-orders, check-status.',
  )
})
