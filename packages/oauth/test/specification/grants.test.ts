import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuthorizationServer } from '../../src/index.ts'
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
import { countRows, expectNoChange } from './rows.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

interface TestClient {
  readonly id: string
  readonly secret: string
}

const GRANTS = ['authorization_code', 'refresh_token', 'password', 'client_credentials'] as const
type TokenGrant = (typeof GRANTS)[number]

const newClient = () => createClient(server, { grants: [...GRANTS] })

async function newCode(client: TestClient, more: Record<string, string> = {}): Promise<string> {
  const page = await requestAuthorization(server, 'ada', {
    client_id: client.id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'place-orders',
    ...more,
  })
  const answered =
    page.status === 200
      ? await submitApprovalDecision(server, 'ada', page)
      : new URL(page.headers.get('location') ?? '')
  return answered.searchParams.get('code') ?? ''
}

/** A complete request of each grant. The tests below omit one field at a time. */
const completeForms: Record<TokenGrant, (client: TestClient) => Promise<Record<string, string>>> = {
  authorization_code: async (client) => ({
    grant_type: 'authorization_code',
    client_id: client.id,
    client_secret: client.secret,
    redirect_uri: REDIRECT,
    code: await newCode(client),
  }),
  refresh_token: async (client) => ({
    grant_type: 'refresh_token',
    client_id: client.id,
    client_secret: client.secret,
    refresh_token: (await runCodeFlow(server, client)).refresh_token,
  }),
  password: async (client) => ({
    grant_type: 'password',
    client_id: client.id,
    client_secret: client.secret,
    username: 'ada@example.com',
    password: 'correct horse',
  }),
  client_credentials: async (client) => ({
    grant_type: 'client_credentials',
    client_id: client.id,
    client_secret: client.secret,
  }),
}

const post = (form: Record<string, string>) => server.post('/oauth/token', form)

/** Grant, required field, and the expected response without it. */
const REQUIRED: ReadonlyArray<readonly [TokenGrant, string, number, string]> = [
  ['authorization_code', 'grant_type', 400, 'invalid_request'],
  ['authorization_code', 'client_id', 401, 'invalid_client'],
  ['authorization_code', 'client_secret', 401, 'invalid_client'],
  // RFC 6749 §5.2: it "does not match the redirection URI used in the authorization request".
  ['authorization_code', 'redirect_uri', 400, 'invalid_grant'],
  ['authorization_code', 'code', 400, 'invalid_request'],
  ['refresh_token', 'grant_type', 400, 'invalid_request'],
  ['refresh_token', 'refresh_token', 400, 'invalid_request'],
  ['refresh_token', 'client_id', 401, 'invalid_client'],
  ['refresh_token', 'client_secret', 401, 'invalid_client'],
  ['password', 'grant_type', 400, 'invalid_request'],
  ['password', 'client_id', 401, 'invalid_client'],
  ['password', 'client_secret', 401, 'invalid_client'],
  ['password', 'username', 400, 'invalid_request'],
  ['password', 'password', 400, 'invalid_request'],
  ['client_credentials', 'client_id', 401, 'invalid_client'],
  ['client_credentials', 'client_secret', 401, 'invalid_client'],
]

describe('POST /oauth/token', () => {
  it.each(['authorization_code', 'refresh_token', 'password'] as const)(
    'returns access_token, refresh_token and expires_in in seconds for grant_type=%s',
    async (grant) => {
      const reply = await post(await completeForms[grant](await newClient()))
      expect(reply.status).toBe(200)
      expect(reply.headers.get('content-type')).toContain('application/json')
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(reply.headers.get('pragma')).toBe('no-cache')
      expect(await reply.json()).toEqual({
        token_type: 'Bearer',
        access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        refresh_token: expect.any(String),
        expires_in: 365 * 24 * 3600,
        scope: grant === 'password' ? '' : 'place-orders',
      })
    },
  )

  it.each(REQUIRED)(
    'rejects grant_type=%s without %s with the status %i and the error %s, and changes nothing',
    async (grant, field, status, error) => {
      const form = await completeForms[grant](await newClient())
      const { [field]: _left, ...missing } = form
      for (const incomplete of [missing, { ...form, [field]: '' }]) {
        const reply = await expectNoChange(server, () => post(incomplete))
        expect(reply.status).toBe(status)
        expect(reply.headers.get('cache-control')).toBe('no-store')
        expect(await reply.json()).toMatchObject({ error, error_description: expect.any(String) })
      }
      expect((await post(form)).status).toBe(200)
    },
  )

  it('accepts only form bodies', async () => {
    const form = await completeForms.password(await newClient())
    const reply = await expectNoChange(server, () =>
      server.request('/oauth/token', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(form),
      }),
    )
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_request' })
  })

  it('also accepts client authentication by HTTP Basic', async () => {
    const client = await newClient()
    const { client_id, client_secret, ...form } = await completeForms.password(client)
    const credentials = Buffer.from(`${client_id}:${client_secret}`).toString('base64')
    const reply = await server.post('/oauth/token', form, { authorization: `Basic ${credentials}` })
    expect(reply.status).toBe(200)
  })

  it('returns unsupported_grant_type for an unknown grant_type', async () => {
    const form = await completeForms.password(await newClient())
    for (const grant of ['device_code', 'implicit', 'personal_access', '__proto__']) {
      const reply = await expectNoChange(server, () => post({ ...form, grant_type: grant }))
      expect(reply.status).toBe(400)
      expect(await reply.json()).toMatchObject({ error: 'unsupported_grant_type' })
    }
  })

  it('lets a client use only the grants that were given to it', async () => {
    const client = await createClient(server)
    for (const grant of ['password', 'client_credentials'] as const) {
      const form = await completeForms[grant](client)
      const reply = await expectNoChange(server, () => post(form))
      expect(reply.status).toBe(400)
      expect(await reply.json()).toMatchObject({ error: 'unauthorized_client' })
    }
  })
})

describe('the authorization code grant:', () => {
  it('a code has 256 random bits and is stored as a hash', async () => {
    const client = await newClient()
    const code = await newCode(client)
    expect(Buffer.from(code.replace(/^tgc_/, ''), 'base64url')).toHaveLength(32)
    const rows = await server.database.kysely
      .selectFrom('oauth_authorization_codes')
      .selectAll()
      .execute()
    expect(JSON.stringify(rows)).not.toContain(code.replace(/^tgc_/, ''))
  })

  it.each([
    ['another redirect_uri', { redirect_uri: `${REDIRECT}/` }],
    ['a damaged code', { code: 'tgc_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['a code verifier without a challenge', { code_verifier: 'v'.repeat(43) }],
  ])('%s gets invalid_grant, and the code stays valid', async (_what, change) => {
    const form = await completeForms.authorization_code(await newClient())
    const reply = await expectNoChange(server, () => post({ ...form, ...change }))
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
    expect((await post(form)).status).toBe(200)
  })

  it('a code sent by another client is refused and stays valid', async () => {
    const form = await completeForms.authorization_code(await newClient())
    const other = await newClient()
    const stolen = { ...form, client_id: other.id, client_secret: other.secret }
    const reply = await expectNoChange(server, () => post(stolen))
    expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
    expect((await post(form)).status).toBe(200)
  })

  it('a code expires after 60 seconds', async () => {
    const client = await newClient()
    const [inTime, late] = [
      await completeForms.authorization_code(client),
      await completeForms.authorization_code(client),
    ]
    server.clock.advance({ seconds: 59 })
    expect((await post(inTime)).status).toBe(200)
    server.clock.advance({ seconds: 1 })
    const reply = await expectNoChange(server, () => post(late))
    expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
  })

  it('a replayed code is refused, and the tokens issued for it are revoked', async () => {
    const form = await completeForms.authorization_code(await newClient())
    const tokens: TokenReply = await (await post(form)).json()
    expect(await (await post(form)).json()).toMatchObject({ error: 'invalid_grant' })
    const credentials = {
      authorization: `Bearer ${tokens.access_token}`,
      cookie: null,
      csrfToken: null,
    }
    const attempt = async () => server.oauth.guard.authenticate('api', credentials)
    await expect(attempt()).rejects.toThrow('revoked')
    const refresh = { ...form, grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    expect(await (await post(refresh)).json()).toMatchObject({ error: 'invalid_grant' })
  })

  const postTo = (fetch: (request: Request) => Promise<Response>, form: Record<string, string>) =>
    fetch(
      new Request(`${server.url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams(form),
      }),
    )

  it('a code that was issued by one process and used at another is known as used to the first process', async () => {
    const form = await completeForms.authorization_code(await newClient())
    const other = server.another()
    const tokens: TokenReply = await (await postTo(other.fetch, form)).json()
    expect(await (await post(form)).json()).toMatchObject({ error: 'invalid_grant' })
    const refresh = { ...form, grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    expect(await (await post(refresh)).json()).toMatchObject({ error: 'invalid_grant' })
  })

  it.each([
    ['the consent', (other: AuthorizationServer, id: string) => other.consents.revoke('ada', id)],
    ['the user', (other: AuthorizationServer) => other.revokeUser('ada')],
  ])(
    'a code issued by one process becomes invalid when another process revokes %s',
    async (_what, end) => {
      const client = await newClient()
      const form = await completeForms.authorization_code(client)
      await end(server.another(), client.id)
      const reply = await expectNoChange(server, () => post(form))
      expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
    },
  )

  it('PKCE with S256 is required from public clients, and checked for all clients that use it', async () => {
    const verifier = randomBytes(32).toString('base64url')
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    const spa = await createClient(server, { confidential: false })
    const without = await requestAuthorization(server, 'ada', {
      client_id: spa.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
    })
    const refused = new URL(without.headers.get('location') ?? '')
    expect(refused.searchParams.get('error')).toBe('invalid_request')

    for (const client of [spa, await newClient()]) {
      const form = {
        grant_type: 'authorization_code',
        client_id: client.id,
        ...(client.secret ? { client_secret: client.secret } : {}),
        redirect_uri: REDIRECT,
        code: await newCode(client, pkce),
      }
      for (const wrong of [{}, { code_verifier: 'x'.repeat(43) }]) {
        const reply = await expectNoChange(server, () => post({ ...form, ...wrong }))
        expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
      }
      expect((await post({ ...form, code_verifier: verifier })).status).toBe(200)
    }
  })
})

describe('the refresh token grant:', () => {
  it('the optional parameter scope can reduce the scopes but never add any', async () => {
    const client = await newClient()
    const first = await runCodeFlow(server, client, { scope: 'place-orders check-status' })
    const form = {
      grant_type: 'refresh_token',
      client_id: client.id,
      client_secret: client.secret,
      refresh_token: first.refresh_token,
    }
    const narrowed: TokenReply = await (await post({ ...form, scope: 'check-status' })).json()
    expect(narrowed.scope).toBe('check-status')

    const ordersOnly = await runCodeFlow(server, client, { scope: 'place-orders' })
    const wider = {
      ...form,
      refresh_token: ordersOnly.refresh_token,
      scope: 'place-orders check-status',
    }
    for (const scope of [wider.scope, '*', 'unknown']) {
      const reply = await expectNoChange(server, () => post({ ...wider, scope }))
      expect(reply.status).toBe(400)
      expect(await reply.json()).toMatchObject({ error: 'invalid_scope' })
    }
    const { scope: _none, ...same } = wider
    expect(((await (await post(same)).json()) as TokenReply).scope).toBe('place-orders')
  })

  it('each use returns a new refresh token and invalidates the old one', async () => {
    const client = await newClient()
    const form = await completeForms.refresh_token(client)
    const next: TokenReply = await (await post(form)).json()
    expect(next.refresh_token).not.toBe(form.refresh_token)
    await post({ ...form, refresh_token: next.refresh_token })
    expect(await (await post(form)).json()).toMatchObject({ error: 'invalid_grant' })
  })

  it('using an old refresh token after its successor was used revokes the whole token family', async () => {
    const form = await completeForms.refresh_token(await newClient())
    const next: TokenReply = await (await post(form)).json()
    const last: TokenReply = await (
      await post({ ...form, refresh_token: next.refresh_token })
    ).json()
    await post(form)
    const reply = await post({ ...form, refresh_token: last.refresh_token })
    expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
  })

  it.each([
    ['damaged', (token: string) => `${token.slice(0, -4)}AAAA`],
    ['truncated', (token: string) => token.slice(0, -1)],
    ['of another kind', () => 'tgc_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['garbage', () => '💥'],
  ])('a refresh token that is %s gets invalid_grant', async (_what, damage) => {
    const form = await completeForms.refresh_token(await newClient())
    const damaged = { ...form, refresh_token: damage(form.refresh_token ?? '') }
    const reply = await expectNoChange(server, () => post(damaged))
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
    expect((await post(form)).status).toBe(200)
  })

  it("another client's refresh token gets invalid_grant and stays valid", async () => {
    const form = await completeForms.refresh_token(await newClient())
    const other = await newClient()
    const stolen = { ...form, client_id: other.id, client_secret: other.secret }
    const reply = await expectNoChange(server, () => post(stolen))
    expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
    expect((await post(form)).status).toBe(200)
  })
})

describe('the password grant:', () => {
  it('the optional parameter scope may be *, which no other grant accepts', async () => {
    const client = await newClient()
    const form = await completeForms.password(client)
    for (const scope of ['place-orders', 'place-orders check-status', '*']) {
      const reply = await post({ ...form, scope })
      expect(await reply.json()).toMatchObject({ scope })
    }
    const machine = await completeForms.client_credentials(client)
    const refused = await expectNoChange(server, () => post({ ...machine, scope: '*' }))
    expect(await refused.json()).toMatchObject({ error: 'invalid_scope' })
  })

  it('a wrong password and an unknown user get the same response', async () => {
    const form = await completeForms.password(await newClient())
    const wrong = await expectNoChange(server, () => post({ ...form, password: 'wrong' }))
    const unknown = await expectNoChange(server, () => post({ ...form, username: 'nobody' }))
    expect(wrong.status).toBe(400)
    expect(unknown.status).toBe(400)
    const body = await wrong.json()
    expect(body).toMatchObject({ error: 'invalid_grant' })
    expect(await unknown.json()).toEqual(body)
  })

  it('an unknown scope gets invalid_scope', async () => {
    const form = await completeForms.password(await newClient())
    const reply = await expectNoChange(server, () => post({ ...form, scope: 'place-orders nope' }))
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_scope' })
  })
})

describe('the client credentials grant:', () => {
  it('a token has no user and no refresh token', async () => {
    const client = await newClient()
    const before = await countRows(server, 'oauth_tokens')
    const reply = await post(await completeForms.client_credentials(client))
    const body: TokenReply = await reply.json()
    expect(body.refresh_token).toBeUndefined()
    expect(await countRows(server, 'oauth_tokens')).toBe(before + 1)
    const caller = server.oauth.guard.authenticate('client', {
      authorization: `Bearer ${body.access_token}`,
      cookie: null,
      csrfToken: null,
    })
    expect(await caller).toMatchObject({ clientId: client.id })
  })
})
