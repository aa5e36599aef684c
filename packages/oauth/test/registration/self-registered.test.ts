import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientRegistration } from '../../src/index.ts'
import { ticketQuotas } from '../../src/limits/policies.ts'
import {
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'
import {
  METADATA,
  type Registered,
  registerAt,
  startOpen,
  toFlowClient,
  UNLIMITED,
} from './open-registration.ts'
import { postJson } from './support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startOpen()
})
afterAll(() => server.close())

describe('self-registered clients (threat S3)', () => {
  it('need a new approval each time until the operator verifies them', async () => {
    const client = await registerAt(server)
    const ask = () =>
      requestAuthorization(server, 'ada', {
        client_id: client.client_id,
        response_type: 'code',
        scope: 'place-orders',
      })
    await submitApprovalDecision(server, 'ada', await ask())
    const again = await ask()
    expect(again.status).toBe(200)
    expect(await again.text()).toContain('unverified')
    await server.oauth.clients.verify(client.client_id)
    expect((await ask()).status).toBe(303)
  })

  it('are marked as unverified, and other clients are not', async () => {
    const client = await registerAt(server)
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.client_id,
      response_type: 'code',
    })
    expect(await page.text()).toContain('<strong>unverified</strong>')
    const { client: own } = await server.oauth.clients.create({ name: 'Own', redirect: REDIRECT })
    const ours = await requestAuthorization(server, 'ada', {
      client_id: own.id,
      response_type: 'code',
    })
    expect(await ours.text()).not.toContain('unverified')
  })

  it('are shown with links to their policy and terms, and with the host of each link', async () => {
    const client = await registerAt(server, {
      policy_uri: 'https://app.example/policy?a=1&b="',
      tos_uri: 'https://terms.example/',
    })
    const ask = { client_id: client.client_id, response_type: 'code' }
    const text = await (await requestAuthorization(server, 'ada', ask)).text()
    expect(text).toContain('href="https://app.example/policy?a=1&amp;b=&quot;" target="_blank"')
    expect(text).toContain('privacy policy</a> at app.example')
    expect(text).toContain('terms of service</a> at terms.example')
    const plain = await registerAt(server)
    const other = await requestAuthorization(server, 'ada', { ...ask, client_id: plain.client_id })
    expect(await other.text()).not.toContain('Read its')
  })

  it('get access tokens that are valid for at most an hour, also at a refresh', async () => {
    const client = await registerAt(server, {
      grant_types: ['authorization_code', 'refresh_token'],
    })
    const tokens = await runCodeFlow(server, toFlowClient(client))
    expect(tokens.expires_in).toBe(3600)
    const reply = await server.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      client_id: client.client_id,
      client_secret: client.client_secret ?? '',
    })
    expect(await reply.json()).toMatchObject({ expires_in: 3600 })
  })

  it('get access tokens of the configured lifetime if that is shorter than an hour', async () => {
    const own = await startOpen(undefined, { accessTokensExpireIn: '5m' })
    try {
      const client = await registerAt(own)
      expect((await runCodeFlow(own, toFlowClient(client))).expires_in).toBe(300)
    } finally {
      await own.close()
    }
  })

  it.each(['check-status', '*', 'place-orders check-status'])(
    'do not get the scopes "%s", because at least one is not open to them',
    async (scope) => {
      const client = await registerAt(server)
      const page = await requestAuthorization(server, 'ada', {
        client_id: client.client_id,
        response_type: 'code',
        scope,
      })
      const back = new URL(page.headers.get('location') ?? '')
      expect(back.searchParams.get('error')).toBe('invalid_scope')
    },
  )

  it('cannot request a scope after the operator has closed it to them', async () => {
    const client = await registerAt(server)
    const stricter = server.another({ selfRegistered: { scopes: [] } })
    const query = { client_id: client.client_id, response_type: 'code', scope: 'place-orders' }
    const reply = await stricter.fetch(
      new Request(`${server.url}/oauth/authorize?${new URLSearchParams(query)}`, {
        headers: { cookie: 'session=ada.1', accept: 'text/html' },
        redirect: 'manual',
      }),
    )
    expect(reply.headers.get('location')).toContain('error=invalid_scope')
  })

  it('lose a scope at the next refresh after the operator has closed it to them', async () => {
    const client = await registerAt(server, {
      grant_types: ['authorization_code', 'refresh_token'],
    })
    const { refresh_token } = await runCodeFlow(server, toFlowClient(client))
    const stricter = server.another({ selfRegistered: { scopes: [] } })
    const form = {
      grant_type: 'refresh_token',
      refresh_token,
      client_id: client.client_id,
      client_secret: client.client_secret ?? '',
    }
    const request = (more: object) =>
      stricter.fetch(
        new Request(`${server.url}/oauth/token`, {
          method: 'POST',
          body: new URLSearchParams({ ...form, ...more }),
        }),
      )
    expect(await (await request({ scope: 'place-orders' })).json()).toMatchObject({
      error: 'invalid_scope',
    })
    expect(await (await request({})).json()).toMatchObject({ scope: '' })
  })

  it.each([
    { grant_type: 'client_credentials' },
    { grant_type: 'password', username: 'ada@example.com', password: 'correct horse' },
  ])('get no token with grant_type $grant_type', async (form) => {
    const client = await registerAt(server)
    const reply = await server.post('/oauth/token', {
      ...form,
      client_id: client.client_id,
      client_secret: client.client_secret ?? '',
    })
    expect(await reply.json()).toMatchObject({ error: 'unauthorized_client' })
  })

  it('cannot introspect tokens of other clients', async () => {
    const { access_token } = await runCodeFlow(server, toFlowClient(await registerAt(server)))
    const nosy = await registerAt(server)
    const reply = await server.post('/oauth/introspect', {
      token: access_token,
      client_id: nosy.client_id,
      client_secret: nosy.client_secret ?? '',
    })
    expect(await reply.json()).toEqual({ active: false })
  })

  it('are deleted if they are unused, and kept if they are used (threat S4)', async () => {
    const own = await startOpen(
      clientRegistration({ policy: 'open', unusedExpireIn: '2d', perMinute: UNLIMITED }),
    )
    try {
      const [used, unused] = [await registerAt(own), await registerAt(own)]
      await runCodeFlow(own, toFlowClient(used))
      own.clock.advance({ days: 4 })
      const ask = ({ client_id }: Registered) =>
        requestAuthorization(own, 'ada', { client_id, response_type: 'code' })
      expect((await ask(used)).status).toBe(200)
      expect((await ask(unused)).status).toBe(400)
      expect(await own.oauth.clients.find(unused.client_id)).not.toBe(null)
      await own.oauth.purge()
      expect(await own.oauth.clients.find(unused.client_id)).toBe(null)
      expect(await own.oauth.clients.find(used.client_id)).not.toBe(null)
    } finally {
      await own.close()
    }
  })
})

describe('the rate limit for client registrations (threat S4)', () => {
  const addressOf = (request: Request) => request.headers.get('x-caller')
  const from = (at: TestServer, address: string) =>
    postJson(at, '/oauth/register', METADATA, { 'x-caller': address })
  const startCounting = (perMinute: number) =>
    startOpen(clientRegistration({ policy: 'open', perMinute }), { addressOf })

  it('counts per network and minute, over all processes', async () => {
    const own = await startCounting(3)
    const other = own.another()
    try {
      const elsewhere = () =>
        other.fetch(
          new Request(`${own.url}/oauth/register`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'x-caller': '192.0.2.1' },
            body: JSON.stringify(METADATA),
          }),
        )
      expect((await from(own, '192.0.2.1')).status).toBe(201)
      expect((await elsewhere()).status).toBe(201)
      expect((await from(own, '192.0.2.1')).status).toBe(201)
      for (const reply of [await elsewhere(), await from(own, '192.0.2.1')]) {
        expect(reply.status).toBe(429)
        expect(reply.headers.get('retry-after')).toBe('60')
      }
      expect((await from(own, '192.0.2.2')).status).toBe(201)
      own.clock.advance({ seconds: 60 })
      expect((await from(own, '192.0.2.1')).status).toBe(201)
    } finally {
      await own.close()
    }
  })

  it('does not apply to requests with an initial access token', async () => {
    const token = 'an initial access token of thirty-two'.replaceAll(' ', '-')
    const policy = 'initial-access-token'
    const feature = clientRegistration({ policy, initialAccessTokens: [token], perMinute: 2 })
    const own = await startOpen(feature, { addressOf })
    try {
      const authorization = `Bearer ${token}`
      for (let count = 0; count < 5; count += 1) {
        const headers = { 'x-caller': '192.0.2.1', authorization }
        expect((await postJson(own, '/oauth/register', METADATA, headers)).status).toBe(201)
      }
    } finally {
      await own.close()
    }
  })

  it('counts concurrent requests of a network (for IPv6, a /64) exactly', async () => {
    const own = await startCounting(3)
    try {
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, index) => from(own, `2001:db8:1:2::${index + 1}`)),
      )
      expect(replies.filter(({ status }) => status === 201)).toHaveLength(3)
      expect(replies.filter(({ status }) => status === 429)).toHaveLength(9)
    } finally {
      await own.close()
    }
  })

  it('cannot be used up by one caller if the IP addresses of callers are unknown (threat Q6)', async () => {
    const own = await startOpen(clientRegistration({ policy: 'open', perMinute: 3 }))
    try {
      for (let count = 0; count < 10; count += 1) await registerAt(own)
    } finally {
      await own.close()
    }
  })
})

describe('unused self-registered clients (threat Q7)', () => {
  const addressOf = (request: Request) => request.headers.get('x-caller')
  const MOST = ticketQuotas.unusedClients.ofOneNetwork

  it('above their limit replace only the oldest unused client of the same network', async () => {
    const own = await startOpen(clientRegistration({ policy: 'open', perMinute: UNLIMITED }), {
      addressOf,
    })
    try {
      const register = async (address: string) => {
        own.clock.advance({ seconds: 1 })
        const headers = { 'x-caller': address }
        const reply = await postJson(own, '/oauth/register', METADATA, headers)
        expect(reply.status).toBe(201)
        return (await reply.json()) as Registered
      }
      const used = await register('192.0.2.1')
      await runCodeFlow(own, toFlowClient(used))
      const approved = await register('192.0.2.1')
      const ask = { client_id: approved.client_id, response_type: 'code' }
      await submitApprovalDecision(own, 'ada', await requestAuthorization(own, 'ada', ask))
      const others = await register('192.0.2.2')
      const oldest = await register('192.0.2.1')
      const next = await register('192.0.2.1')
      for (let count = 2; count <= MOST; count += 1) await register('192.0.2.1')
      const isThere = async ({ client_id }: Registered) =>
        (await own.oauth.clients.find(client_id)) !== null
      expect(await Promise.all([used, approved, others, oldest, next].map(isThere))).toEqual([
        true,
        true,
        true,
        false,
        true,
      ])
      // Every process notices the deletion.
      const page = { client_id: oldest.client_id, response_type: 'code' }
      expect((await requestAuthorization(own, 'ada', page)).status).toBe(400)
    } finally {
      await own.close()
    }
  })
})
