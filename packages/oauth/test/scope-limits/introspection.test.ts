import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientCredentials,
  createAuthorizationServer,
  memoryStorage,
  openid,
  password,
  refreshToken,
  signedIntrospection,
  TemporarilyUnavailable,
} from '../../src/index.ts'
import {
  createClient,
  runCodeFlow,
  SCOPES,
  SECRET,
  startServer,
  type TestServer,
  TestUsers,
  type TokenReply,
} from '../support.ts'
import { Plan, whileLimited } from './support.ts'

const BOTH = 'place-orders check-status'
const ADA = { grant_type: 'password', username: 'ada@example.com', password: 'correct horse' }
const OPAQUE = 'https://opaque.example.com'

interface TestClient {
  readonly id: string
  readonly secret: string
}

let server: TestServer
let app: TestClient
let api: TestClient
beforeAll(async () => {
  server = await startServer({
    grants: [authorizationCode(), refreshToken(), password(), clientCredentials()],
    features: [
      openid({ pairwiseSalt: 'a salt of more than thirty-two characters' }),
      signedIntrospection(),
    ],
    resources: { [OPAQUE]: { accessTokenFormat: 'opaque' } },
    accessTokenClaims: () => ({ tenant: 'acme' }),
  })
  const grants = ['authorization_code', 'refresh_token', 'password', 'client_credentials']
  app = await createClient(server, { grants })
  api = await createClient(server, { grants: ['client_credentials'], resourceServer: true })
})
afterAll(() => server.close())

const send = (
  { id, secret }: TestClient,
  path: string,
  form: Record<string, string>,
  headers = {},
) => server.post(path, { client_id: id, client_secret: secret, ...form }, headers)

async function ask(form: Record<string, string>, client = app): Promise<TokenReply> {
  const reply = await send(client, '/oauth/token', form)
  expect(reply.status).toBe(200)
  return (await reply.json()) as TokenReply
}

async function introspect(token: string, client = api): Promise<Record<string, unknown>> {
  const reply = await send(client, '/oauth/introspect', { token })
  expect(reply.status).toBe(200)
  return (await reply.json()) as Record<string, unknown>
}

const tokens: Record<string, () => Promise<string>> = {
  'an access token of a user': async () =>
    (await runCodeFlow(server, app, { scope: BOTH })).access_token,
  'an opaque access token': async () =>
    (await ask({ ...ADA, scope: BOTH, resource: OPAQUE })).access_token,
  'a refresh token': async () => (await ask({ ...ADA, scope: BOTH })).refresh_token,
  'a token of a client acting for itself': async () =>
    (await ask({ grant_type: 'client_credentials', scope: BOTH })).access_token,
  async 'a personal access token'() {
    const request = { userId: 'ada', name: 'Script', scopes: BOTH.split(' ') }
    return (await server.oauth.tokens.createPersonal(request)).accessToken
  },
}

describe('introspection on a server with scope limits (threat G10)', () => {
  it.each(Object.entries(tokens))(
    'lists all scopes in `scope`, and the withheld ones also in `withheld_scope`, for %s',
    async (_kind, issue) => {
      const token = await issue()
      const before = await introspect(token)
      expect(before).toMatchObject({ active: true, scope: BOTH })
      expect(before).not.toHaveProperty('withheld_scope')
      await whileLimited(server, new Plan('place-orders'), async () => {
        expect(await introspect(token)).toEqual({ ...before, withheld_scope: 'place-orders' })
      })
      await whileLimited(server, new Plan('place-orders', 'check-status'), async () => {
        expect(await introspect(token)).toEqual({ ...before, withheld_scope: BOTH })
      })
      await whileLimited(server, new Plan('other'), async () => {
        expect(await introspect(token)).toEqual(before)
      })
      expect(await introspect(token)).toEqual(before)
    },
  )

  it('lists every defined scope that is withheld for a token with the scope *', async () => {
    const { access_token } = await ask({ ...ADA, scope: '*' })
    await whileLimited(
      server,
      new Plan('check-status', 'openid', 'email', 'undefined'),
      async () => {
        expect(await introspect(access_token)).toMatchObject({
          scope: '*',
          withheld_scope: 'check-status',
        })
      },
    )
  })

  it('lists the withheld scopes in a signed response, too', async () => {
    const { access_token: token } = await ask({ ...ADA, scope: BOTH })
    await whileLimited(server, new Plan('place-orders'), async () => {
      const accept = 'application/token-introspection+jwt'
      const reply = await send(api, '/oauth/introspect', { token }, { accept })
      expect(reply.headers.get('content-type')).toBe(accept)
      expect(decodeJwt(await reply.text()).token_introspection).toMatchObject({
        scope: BOTH,
        withheld_scope: 'place-orders',
      })
    })
  })

  it('returns to a client with pairwise subjects the withheld scopes, but no user id and no added claims', async () => {
    const client = await createClient(server, {
      grants: ['password'],
      settings: { subject_type: 'pairwise' },
    })
    const { access_token } = await ask({ ...ADA, scope: BOTH }, client)
    const before = await introspect(access_token, client)
    expect(JSON.stringify(before)).not.toContain('ada')
    expect(before).not.toHaveProperty('tenant')
    const plan = new Plan('place-orders')
    await whileLimited(server, plan, async () => {
      const during = await introspect(access_token, client)
      expect(during).toEqual({ ...before, withheld_scope: 'place-orders' })
    })
    expect(plan.asked).toEqual([{ userId: 'ada', clientId: client.id }])
  })

  it("returns only active: false, without asking the limiter, for invalid tokens and other clients' tokens", async () => {
    const { access_token } = await ask({ ...ADA, scope: BOTH })
    const stranger = await createClient(server, { grants: ['client_credentials'] })
    const plan = new Plan('place-orders')
    await whileLimited(server, plan, async () => {
      for (const token of [access_token, 'garbage']) {
        expect(await introspect(token, stranger)).toEqual({ active: false })
      }
    })
    expect(plan.asked).toEqual([])
  })

  it('responds with 503 if the limiter fails, because the API would otherwise accept withheld scopes', async () => {
    const { access_token: token } = await ask({ ...ADA, scope: BOTH })
    for (const error of [new TemporarilyUnavailable('Loading'), new Error('Away')]) {
      const limiter = { limitsOf: () => Promise.reject(error) }
      await whileLimited(server, limiter, async () => {
        const reply = await send(api, '/oauth/introspect', { token })
        expect(reply.status).toBe(503)
      })
    }
    expect(await introspect(token)).toMatchObject({ active: true })
  })

  it('never returns a `withheld_scope` of the application: accessTokenClaims with this claim is rejected at start-up', () => {
    expect(() =>
      createAuthorizationServer({
        issuer: 'http://localhost',
        secret: SECRET,
        storage: memoryStorage(),
        users: new TestUsers(),
        scopes: SCOPES,
        grants: [password()],
        accessTokenClaims: { withheld_scope: 'none' },
      }),
    ).toThrow(/withheld_scope/)
  })
})
