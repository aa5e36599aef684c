import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientCredentials,
  deviceCode,
  implicit,
  openid,
  password,
  refreshToken,
  TemporarilyUnavailable,
  tokenExchange,
} from '../../src/index.ts'
import { DEVICE_CODE, decide, poll, startDeviceFlow } from '../device/support.ts'
import { exchange, TOKEN_EXCHANGE } from '../exchange/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
  type TokenReply,
} from '../support.ts'
import { Plan, whileLimited } from './support.ts'

const BOTH = 'place-orders check-status'
const ADA = { grant_type: 'password', username: 'ada@example.com', password: 'correct horse' }

interface TestClient {
  readonly id: string
  readonly secret: string
}

let server: TestServer
let app: TestClient
beforeAll(async () => {
  server = await startServer({
    grants: [
      ...[authorizationCode(), refreshToken(), password(), clientCredentials(), implicit()],
      ...[deviceCode(), tokenExchange()],
    ],
    features: [openid()],
  })
  app = await createClient(server, {
    grants: [
      ...['authorization_code', 'refresh_token', 'password', 'client_credentials', 'implicit'],
      ...[DEVICE_CODE, TOKEN_EXCHANGE],
    ],
  })
})
afterAll(() => server.close())

async function ask(form: Record<string, string>): Promise<TokenReply> {
  const credentials = { client_id: app.id, client_secret: app.secret }
  const reply = await server.post('/oauth/token', { ...credentials, ...form })
  expect(reply.status).toBe(200)
  return (await reply.json()) as TokenReply
}

type Issued = Pick<TokenReply, 'access_token' | 'scope'>

const grants: Record<string, () => Promise<Issued>> = {
  'the code flow': () => runCodeFlow(server, app, { scope: BOTH }),
  'the password grant': () => ask({ ...ADA, scope: BOTH }),
  'client credentials': () => ask({ grant_type: 'client_credentials', scope: BOTH }),
  async 'a refresh'() {
    const { refresh_token } = await ask({ ...ADA, scope: BOTH })
    return ask({ grant_type: 'refresh_token', refresh_token })
  },
  async 'a token exchange'() {
    const { access_token } = await ask({ ...ADA, scope: BOTH })
    return exchange(server, app, access_token)
  },
  async 'the device flow'() {
    const flow = await startDeviceFlow(server, app, { scope: BOTH })
    await decide(server, 'ada', flow.user_code)
    return (await poll(server, app, flow.device_code)).json()
  },
  async 'the implicit flow'() {
    const page = await requestAuthorization(server, 'ada', {
      client_id: app.id,
      redirect_uri: REDIRECT,
      response_type: 'token',
      scope: BOTH,
      prompt: 'consent',
    })
    const { hash } = await submitApprovalDecision(server, 'ada', page)
    return Object.fromEntries(new URLSearchParams(hash.slice(1))) as unknown as Issued
  },
}

describe('the token response on a server with scope limits', () => {
  it.each(Object.entries(grants))(
    'lists only the scopes that are not withheld, while the token has all granted scopes: %s',
    async (_grant, issue) => {
      const { access_token, scope } = await whileLimited(server, new Plan('place-orders'), issue)
      expect(scope).toBe('check-status')
      expect(decodeJwt(access_token).scope).toBe(BOTH)
      const row = await server.oauth.tokens.find(String(decodeJwt(access_token).jti).slice(0, 36))
      expect(row?.scopes).toEqual(BOTH.split(' '))
    },
  )

  it.each(Object.entries(grants))(
    'lists all granted scopes if none is withheld: %s',
    async (_grant, issue) => {
      expect((await whileLimited(server, new Plan('other'), issue)).scope).toBe(BOTH)
      expect((await issue()).scope).toBe(BOTH)
    },
  )

  it('lists a withheld scope again at the first refresh after the limit has ended', async () => {
    const first = await ask({ ...ADA, scope: BOTH })
    const grant_type = 'refresh_token'
    const second = await whileLimited(server, new Plan('place-orders'), () =>
      ask({ grant_type, refresh_token: first.refresh_token }),
    )
    expect(second.scope).toBe('check-status')
    const third = await ask({ grant_type, refresh_token: second.refresh_token })
    expect(third.scope).toBe(BOTH)
  })

  it('lists no scope if a refresh requests only a withheld scope, while the new token has that scope', async () => {
    const first = await ask({ ...ADA, scope: BOTH })
    const { refresh_token } = first
    await whileLimited(server, new Plan('place-orders'), async () => {
      const form = { grant_type: 'refresh_token', refresh_token, scope: 'place-orders' }
      const { scope, access_token } = await ask(form)
      expect(scope).toBe('')
      expect(decodeJwt(access_token).scope).toBe('place-orders')
    })
  })

  it('lists the defined scopes that are not withheld for a token with the scope *, while the token keeps *', async () => {
    await whileLimited(server, new Plan('place-orders'), async () => {
      const { scope, access_token } = await ask({ ...ADA, scope: '*' })
      expect(scope).toBe('check-status')
      expect(decodeJwt(access_token).scope).toBe('*')
    })
    await whileLimited(server, new Plan('other'), async () => {
      expect((await ask({ ...ADA, scope: '*' })).scope).toBe('*')
    })
  })

  it('always lists the granted scopes of OpenID Connect', async () => {
    const scope = 'openid email place-orders'
    await whileLimited(server, new Plan('openid', 'email', 'place-orders'), async () => {
      const reply = await runCodeFlow(server, app, { scope })
      expect(reply.scope).toBe('openid email')
      expect(reply).toHaveProperty('id_token')
    })
  })

  it('depends on the user and the client: the limiter gets the ids of both', async () => {
    const plan = new Plan()
    await whileLimited(server, plan, async () => {
      await ask({ ...ADA, scope: BOTH })
      await ask({ grant_type: 'client_credentials', scope: BOTH })
    })
    expect(plan.asked).toEqual([
      { userId: 'ada', clientId: app.id },
      { userId: null, clientId: app.id },
    ])
  })

  it.each([
    ['an OAuth error', () => Promise.reject(new TemporarilyUnavailable('Loading')), 0],
    ['any other error', () => Promise.reject(new Error('The database is away')), 1],
    ['no limits', () => undefined as never, 1],
  ])(
    'lists all granted scopes if the limiter fails with %s, because the refresh token is already used (threat G10)',
    async (_error, limitsOf, logs) => {
      const { refresh_token } = await ask({ ...ADA, scope: BOTH })
      server.logged.length = 0
      await whileLimited(server, { limitsOf }, async () => {
        const { scope } = await ask({ grant_type: 'refresh_token', refresh_token })
        expect(scope).toBe(BOTH)
      })
      expect(server.logged).toHaveLength(logs)
    },
  )
})
