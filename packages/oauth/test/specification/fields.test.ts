import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'
import { expectNoChange } from './rows.ts'

let server: TestServer
let ownId: string
beforeAll(async () => {
  server = await startServer()
  const body = { name: 'Mine', redirect: REDIRECT }
  ownId = (await (await server.json('ada', 'POST', '/oauth/clients', body)).json()).id
})
afterAll(() => server.close())

const good = { name: 'Shop', redirect: REDIRECT }
/** A missing field, then the invalid values callers may send. */
const badNames = [
  undefined,
  null,
  '',
  '   ',
  7,
  ['x'],
  {},
  'n'.repeat(192),
  'a\u0000b',
  '\u202egnp',
]
const badRedirects = [
  undefined,
  null,
  '',
  7,
  [REDIRECT],
  'callback',
  '/callback',
  'javascript:alert(1)',
  'https://app.example/#x',
  'https://user:pass@app.example/',
  'https://app.example/a/../b',
  'https://app.example/?code=1',
  `https://app.example/${'a'.repeat(2000)}`,
  `${REDIRECT},data:text/html,x`,
]

async function expectFieldError(method: string, path: string, body: unknown, field: string) {
  const reply = await expectNoChange(server, () => server.json('ada', method, path, body))
  expect(reply.status).toBe(422)
  const { message, errors } = await reply.json()
  expect(Object.keys(errors)).toEqual([field])
  expect(errors[field].length).toBeGreaterThan(0)
  expect(message.startsWith(errors[field][0])).toBe(true)
}

describe('the fields of a client:', () => {
  it.each(['POST', 'PUT'])('name is a string, required on %s', async (method) => {
    const path = method === 'POST' ? '/oauth/clients' : `/oauth/clients/${ownId}`
    for (const name of badNames) await expectFieldError(method, path, { ...good, name }, 'name')
  })

  it.each(['POST', 'PUT'])(
    'redirect must be a URL, and is required in a %s request',
    async (method) => {
      const path = method === 'POST' ? '/oauth/clients' : `/oauth/clients/${ownId}`
      for (const redirect of badRedirects) {
        await expectFieldError(method, path, { ...good, redirect }, 'redirect')
      }
    },
  )

  it('name may be in any language and have up to 191 characters', async () => {
    for (const name of ['Кофейня', '咖啡店 ☕', 'مقهى', "O'Neill & <Söhne>", 'n'.repeat(191)]) {
      const reply = await server.json('ada', 'POST', '/oauth/clients', { ...good, name })
      expect(reply.status).toBe(201)
      expect((await reply.json()).name).toBe(name)
    }
  })

  it('redirect is the URL that people return to after they approve or deny', async () => {
    const client = await createClient(server)
    for (const decision of ['approve', 'deny'] as const) {
      const page = await requestAuthorization(server, 'ada', {
        client_id: client.id,
        redirect_uri: REDIRECT,
        response_type: 'code',
        prompt: 'consent',
      })
      const answered = await submitApprovalDecision(server, 'ada', page, decision)
      expect(answered.origin + answered.pathname).toBe(REDIRECT)
    }
  })

  it('redirect must equal the redirect_uri of authorization requests', async () => {
    const client = await createClient(server)
    const ask = (redirect_uri: string) =>
      requestAuthorization(server, 'ada', {
        client_id: client.id,
        redirect_uri,
        response_type: 'code',
      })
    expect((await ask(REDIRECT)).status).toBe(200)
    expect((await ask(`${REDIRECT}x`)).status).toBe(400)
  })

  it('client ID is issued at creation and sent as client_id', async () => {
    const [one, two] = [await createClient(server), await createClient(server)]
    expect(one.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(one.id).not.toBe(two.id)
  })

  it('client secret is issued at creation and sent as client_secret', async () => {
    const client = await createClient(server, { grants: ['client_credentials'] })
    const ask = (client_secret: string) =>
      server.post('/oauth/token', {
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret,
      })
    expect((await ask(client.secret)).status).toBe(200)
    expect((await ask(`${client.secret}x`)).status).toBe(401)
  })

  it('client secret is not needed for the implicit grant', async () => {
    const client = await createClient(server, { grants: ['implicit'], confidential: false })
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'token',
    })
    const answered = await submitApprovalDecision(server, 'ada', page)
    expect(new URLSearchParams(answered.hash.slice(1)).get('access_token')).toBeTruthy()
  })
})

describe('the token response', () => {
  it('contains access_token, refresh_token and expires_in', async () => {
    const reply = await runCodeFlow(server, await createClient(server))
    expect(typeof reply.access_token).toBe('string')
    expect(typeof reply.refresh_token).toBe('string')
    expect(Number.isInteger(reply.expires_in)).toBe(true)
  })

  it('contains a JWT as defined by RFC 9068 as access_token', async () => {
    const client = await createClient(server)
    const { access_token } = await runCodeFlow(server, client)
    const [header, payload] = access_token
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    const jwks = await (await server.request('/.well-known/jwks.json')).json()
    expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: jwks.keys[0].kid })
    const now = Math.floor(server.clock.now().getTime() / 1000)
    expect(payload).toEqual({
      iss: server.url,
      sub: 'user:ada',
      aud: server.url,
      client_id: client.id,
      jti: expect.any(String),
      iat: now,
      exp: now + 365 * 24 * 3600,
      scope: 'place-orders',
    })
  })

  it('contains tokens that are never stored in plain text (threat M3)', async () => {
    const reply = await runCodeFlow(server, await createClient(server))
    const rows = await server.database.kysely.selectFrom('oauth_tokens').selectAll().execute()
    const stored = JSON.stringify(rows)
    expect(stored).not.toContain(reply.access_token.split('.')[2])
    expect(stored).not.toContain(reply.refresh_token.split('.').at(-1))
  })
})

describe('the fields of a personal access token:', () => {
  const path = '/oauth/personal-access-tokens'

  it('name is a string, required on create', async () => {
    for (const name of badNames) await expectFieldError('POST', path, { name, scopes: [] }, 'name')
    for (const name of ['', 'n'.repeat(192), 'a\u0000b']) {
      const made = () => server.oauth.tokens.createPersonal({ userId: 'ada', name }).catch((e) => e)
      expect(await expectNoChange(server, made)).toMatchObject({ code: 'validation_failed' })
    }
  })

  it('scopes is an array of scope names, required on create', async () => {
    const wrong = [undefined, null, 'place-orders', {}, [7], [null], ['nope'], [['place-orders']]]
    for (const scopes of wrong) {
      await expectFieldError('POST', path, { name: 'laptop', scopes }, 'scopes')
    }
  })

  it('scopes may be empty', async () => {
    const reply = await server.json('ada', 'POST', path, { name: 'laptop', scopes: [] })
    expect(reply.status).toBe(201)
    expect((await reply.json()).token.scopes).toEqual([])
  })

  it('the create response contains the token as accessToken', async () => {
    const reply = await server.json('ada', 'POST', path, { name: 'laptop', scopes: [] })
    expect((await reply.json()).accessToken).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  })

  it('the scope * is refused', async () => {
    for (const scopes of [['*'], ['place-orders', '*']]) {
      await expectFieldError('POST', path, { name: 'laptop', scopes }, 'scopes')
    }
    const { createPersonal } = server.oauth.tokens
    const made = createPersonal({ userId: 'ada', name: 'laptop', scopes: ['*'] })
    await expect(made).rejects.toMatchObject({ code: 'invalid_scope' })
  })
})

describe('scopes:', () => {
  it('names are separated by single spaces in requests', async () => {
    const client = await createClient(server)
    const reply = await runCodeFlow(server, client, { scope: 'place-orders check-status' })
    expect(reply.scope).toBe('place-orders check-status')
  })

  it('the description is shown on the approval screen', async () => {
    const client = await createClient(server)
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'check-status',
    })
    const html = await page.text()
    expect(html).toContain('Check order status')
    expect(html).not.toContain('Place orders')
  })
})
