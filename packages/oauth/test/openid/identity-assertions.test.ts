import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  type JWTPayload,
  jwtVerify,
} from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  createAuthorizationServer,
  dpop,
  memoryStorage,
  openid,
  password,
  refreshToken,
  tokenExchange,
} from '../../src/index.ts'
import { newHolder, tokenProof } from '../dpop/support.ts'
import { SECRET } from '../support.ts'
import { newClient, type OpenIdReply, type OpenIdServer, signIn, startOpenId } from './support.ts'

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const CHAT = 'https://auth.chat.example'
const CHAT_API = 'https://api.chat.example'
const CHAT_FILES = 'https://files.chat.example'
const PAIRWISE = 'https://auth.pairwise.example'

interface Caller {
  readonly id: string
  readonly secret: string
}

/** Filled once the clients are created. */
const clients: Record<string, string> = {}
const settings = {
  logout: true,
  pairwiseSalt: SECRET,
  acrValues: ['password'],
  identityAssertions: {
    [CHAT]: {
      clients,
      scopes: ['chat.read', 'chat.write'],
      resources: [CHAT_API, CHAT_FILES],
      email: true,
    },
  },
}
const GRANTS = ['authorization_code', 'refresh_token', 'password', TOKEN_EXCHANGE]

let server: OpenIdServer
let wiki: Caller
let chat: Caller
beforeAll(async () => {
  server = await startOpenId({
    grants: [authorizationCode(), refreshToken(), password(), tokenExchange()],
    features: [openid(settings), dpop()],
  })
  wiki = await newClient(server, { grants: GRANTS })
  chat = await newClient(server, { grants: GRANTS, settings: { subject_type: 'pairwise' } })
  clients[wiki.id] = 'wiki-at-chat'
  clients[chat.id] = 'chat-at-chat'
})
afterAll(() => server.close())

const ADA = { scope: 'openid email' }

const formFor = (
  subject_token: string,
  { id: client_id, secret: client_secret }: Caller = wiki,
): Record<string, string> => ({
  ...{ grant_type: TOKEN_EXCHANGE, client_id, client_secret, requested_token_type: ID_JAG },
  ...{ subject_token, subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' },
  ...{ audience: CHAT, resource: CHAT_API },
})

async function ask(
  subject_token: string,
  changes: Record<string, string> = {},
  client = wiki,
  headers: Record<string, string> = {},
) {
  const form = { ...formFor(subject_token, client), ...changes }
  const reply = await server.post('/oauth/token', form, headers)
  return { status: reply.status, ...((await reply.json()) as Record<string, unknown>) }
}

/** Reads and verifies the assertion like the other server does. */
async function readAssertion(reply: Record<string, unknown>): Promise<JWTPayload> {
  const jwks = await (await server.request('/.well-known/jwks.json')).json()
  const { payload } = await jwtVerify(String(reply.access_token), createLocalJWKSet(jwks), {
    typ: 'oauth-id-jag+jwt',
    issuer: server.url,
    currentDate: server.clock.now(),
  })
  return payload
}

describe('an identity assertion', () => {
  it('is issued for an ID token of the same client, names another server as audience, and expires after a few minutes', async () => {
    const { id_token } = await signIn(server, wiki, ADA)
    const reply = await ask(id_token, { scope: 'chat.read' })
    expect(reply).toMatchObject({
      ...{ status: 200, issued_token_type: ID_JAG, token_type: 'N_A' },
      ...{ scope: 'chat.read', expires_in: 300 },
    })
    expect(reply).not.toHaveProperty('refresh_token')
    const now = Math.floor(server.clock.now().getTime() / 1000)
    expect(await readAssertion(reply)).toEqual({
      ...{ iss: server.url, sub: 'ada', aud: CHAT, client_id: 'wiki-at-chat' },
      ...{ jti: expect.any(String), iat: now, exp: now + 300 },
      ...{ resource: CHAT_API, scope: 'chat.read' },
      ...{ email: 'ada@example.com', email_verified: true },
    })
  })

  it('contains every scope and resource that the client may request if the request names none', async () => {
    const { id_token } = await signIn(server, wiki)
    const reply = await ask(id_token, { resource: '' })
    expect(await readAssertion(reply)).toMatchObject({
      scope: 'chat.read chat.write',
      resource: [CHAT_API, CHAT_FILES],
    })
  })

  it('contains the e-mail address only for clients with that scope', async () => {
    // Scopes granted to the client before in the same session count, too.
    await server.oauth.consents.revoke('ada', wiki.id)
    const { id_token } = await signIn(server, wiki, { scope: 'openid' })
    expect(await readAssertion(await ask(id_token))).not.toHaveProperty('email')
  })

  it('contains how and when the person signed in', async () => {
    server.people.signIns.set('ada.1', server.clock.now())
    server.people.acr = 'password'
    const { id_token } = await signIn(server, wiki)
    const { auth_time, acr } = await readAssertion(await ask(id_token))
    expect({ auth_time, acr }).toEqual({
      auth_time: Math.floor(server.clock.now().getTime() / 1000),
      acr: 'password',
    })
  })

  it('has exactly the configured audience, even if the request adds a slash after the host', async () => {
    const { id_token } = await signIn(server, wiki)
    expect((await readAssertion(await ask(id_token, { audience: `${CHAT}/` }))).aud).toBe(CHAT)
  })

  it('has the same subject as the ID tokens that the other server receives', async () => {
    const audience = { clients, scopes: [], resources: [], relyingParty: chat.id }
    const oauth = server.another({
      features: [openid({ ...settings, identityAssertions: { [PAIRWISE]: audience } })],
    })
    const { id_token } = await signIn(server, wiki)
    const body = new URLSearchParams({
      ...formFor(id_token),
      ...{ audience: PAIRWISE, resource: '' },
    })
    const reply = await oauth.fetch(
      new Request(`${server.url}/oauth/token`, { method: 'POST', body }),
    )
    const claims = await readAssertion((await reply.json()) as Record<string, unknown>)
    const { sub } = claims
    expect(claims).not.toHaveProperty('scope')
    expect(claims).not.toHaveProperty('resource')
    expect(sub).toBe(decodeJwt((await signIn(server, chat)).id_token).sub)
    expect(sub).not.toBe('ada')
  })

  it('is bound to the key of the DPoP proof in the request', async () => {
    const holder = await newHolder()
    const { id_token } = await signIn(server, wiki)
    const reply = await ask(id_token, {}, wiki, { dpop: await tokenProof(server, holder) })
    expect(reply).toMatchObject({ status: 200, token_type: 'N_A' })
    expect((await readAssertion(reply)).cnf).toEqual({ jkt: holder.thumbprint })
  })

  it('is announced in discovery', async () => {
    const reply = await server.request('/.well-known/openid-configuration')
    expect(await reply.json()).toMatchObject({
      identity_chaining_requested_token_types_supported: [ID_JAG],
    })
  })
})

describe('no identity assertion (threat T19) is issued for', () => {
  let tokens: OpenIdReply
  beforeAll(async () => {
    tokens = await signIn(server, wiki, ADA)
  })

  const refusals: Record<string, [() => Promise<object>, string]> = {
    'another audience': [
      () => ask(tokens.id_token, { audience: 'https://evil.example' }),
      'invalid_target',
    ],
    'two audiences': [
      () => ask(tokens.id_token, { audience: `${CHAT} ${PAIRWISE}` }),
      'invalid_target',
    ],
    'no audience': [() => ask(tokens.id_token, { audience: '' }), 'invalid_request'],
    'another resource': [
      () => ask(tokens.id_token, { resource: 'https://api.evil.example' }),
      'invalid_target',
    ],
    'another scope': [() => ask(tokens.id_token, { scope: 'chat.admin' }), 'invalid_scope'],
    'an actor token': [() => ask(tokens.id_token, { actor_token: 'x' }), 'invalid_request'],
    'the type of an actor token': [
      () => ask(tokens.id_token, { actor_token_type: ID_JAG }),
      'invalid_request',
    ],
    'an ID token with another subject_token_type': [
      () => ask(tokens.id_token, { subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' }),
      'invalid_request',
    ],
    'an access token': [() => ask(tokens.access_token), 'invalid_request'],
    'a refresh token': [() => ask(tokens.refresh_token), 'invalid_request'],
    'an access token with its own subject_token_type': [
      () =>
        ask(tokens.access_token, {
          subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        }),
      'invalid_request',
    ],
    'an altered ID token': [() => ask(`${tokens.id_token}x`), 'invalid_request'],
    'an identity assertion': [
      async () =>
        ask(String(((await ask(tokens.id_token)) as { access_token?: string }).access_token)),
      'invalid_request',
    ],
    'a client with pairwise subjects': [
      async () => ask((await signIn(server, chat)).id_token, {}, chat),
      'unauthorized_client',
    ],
  }

  it.each(Object.entries(refusals))('a request with %s', async (_name, [attack, error]) => {
    expect(await attack()).toMatchObject({ status: 400, error })
  })

  it('an ID token of another client, even if both have grants of the person', async () => {
    const other = await newClient(server, { grants: GRANTS })
    expect(await ask((await signIn(server, wiki)).id_token)).toMatchObject({ status: 200 })
    const { id_token } = await signIn(server, other)
    expect(await ask(id_token)).toMatchObject({ error: 'invalid_request' })
    // This client has no grant for that audience.
    expect(await ask(id_token, {}, other)).toMatchObject({ error: 'invalid_target' })
  })

  it('an ID token whose approval was revoked, even if the person still has other grants', async () => {
    const { id_token } = await signIn(server, wiki)
    await server.oauth.consents.revoke('ada', wiki.id)
    await signIn(server, await newClient(server))
    await signIn(server, wiki, { scope: 'place-orders' })
    expect(await ask(id_token)).toMatchObject({ error: 'invalid_request' })
    await signIn(server, wiki)
    expect(await ask(id_token)).toMatchObject({ status: 200 })
  })

  it('an ID token of a session whose grant has ended, even if the person still has a grant without a session', async () => {
    const { id_token } = await signIn(server, wiki)
    await server.oauth.consents.revoke('ada', wiki.id)
    const reply = await server.post('/oauth/token', {
      ...{ grant_type: 'password', username: 'ada@example.com', password: 'correct horse' },
      ...{ client_id: wiki.id, client_secret: wiki.secret, scope: 'openid' },
    })
    expect(reply.status).toBe(200)
    expect(await ask(id_token)).toMatchObject({ error: 'invalid_request' })
  })

  it('a signed UserInfo response instead of an ID token', async () => {
    const settings = { userinfo_signed_response_alg: 'RS256' as const }
    const client = await newClient(server, { settings })
    const { access_token } = await signIn(server, client)
    const headers = { authorization: `Bearer ${access_token}` }
    const signed = await (await server.request('/oauth/userinfo', { headers })).text()
    expect(decodeProtectedHeader(signed).typ).toBe('JWT')
    expect(await ask(signed)).toMatchObject({ error: 'invalid_request' })
  })

  it('an ID token of a deleted person', async () => {
    const { id_token } = await signIn(server, wiki)
    const ada = server.people.all.get('ada')
    server.people.all.delete('ada')
    const reply = await ask(id_token)
    if (ada) server.people.all.set('ada', ada)
    expect(reply).toMatchObject({ error: 'invalid_request' })
    expect(await ask(id_token)).toMatchObject({ status: 200 })
  })

  it('an ID token of a person who was signed out everywhere', async () => {
    const { id_token } = await signIn(server, wiki)
    await server.oauth.revokeUser('ada')
    expect(await ask(id_token)).toMatchObject({ error: 'invalid_request' })
    expect(await ask((await signIn(server, wiki)).id_token)).toMatchObject({ status: 200 })
  })

  it('an ID token of a person who is signed out everywhere while the request runs', async () => {
    const { id_token } = await signIn(server, wiki)
    const findById = server.people.findById.bind(server.people)
    server.people.findById = async (id) => {
      server.people.findById = findById
      await server.oauth.revokeUser(id)
      return findById(id)
    }
    expect(await ask(id_token)).toMatchObject({ error: 'invalid_request' })
  })

  it('an ID token that has expired', async () => {
    const { id_token } = await signIn(server, wiki)
    server.clock.advance({ seconds: 3599 })
    expect(await ask(id_token)).toMatchObject({ status: 200 })
    server.clock.advance({ seconds: 1 })
    expect(await ask(id_token)).toMatchObject({ error: 'invalid_request' })
  })

  it('a client that was not given the grant', async () => {
    const plain = await newClient(server)
    const { id_token } = await signIn(server, plain)
    expect(await ask(id_token, {}, plain)).toMatchObject({ error: 'unauthorized_client' })
  })

  // Must be the last test: it ends the session that the other tests sign in with.
  it('an ID token of a person who has signed out', async () => {
    const { id_token } = await signIn(server, wiki)
    expect(await ask(id_token)).toMatchObject({ status: 200 })
    await server.oauth.endSession('ada.1')
    expect(await ask(id_token)).toMatchObject({ error: 'invalid_request' })
  })
})

describe('the `identityAssertions` option', () => {
  const audience = { clients: {}, scopes: [], resources: [] }
  const make = (identityAssertions: object, grants = [password(), tokenExchange()]) =>
    createAuthorizationServer({
      issuer: 'https://idp.example',
      secret: SECRET,
      storage: memoryStorage(),
      users: { findById: () => null },
      grants,
      features: [
        openid({ identityAssertions: identityAssertions as Record<string, typeof audience> }),
      ],
    })

  it.each([
    [
      'this server',
      { 'https://idp.example': audience },
      /must not contain the issuer of this server/,
    ],
    ['no issuer', { chat: audience }, /must be the issuer of the other server/],
    ['no scopes', { [CHAT]: { ...audience, scopes: undefined } }, /give clients, scopes/],
    ['assertions that live for a day', { [CHAT]: { ...audience, expireIn: '1d' } }, /an hour/],
  ])('is rejected at start-up with %s', (_name, audiences, message) => {
    expect(() => make(audiences)).toThrow(message)
  })

  it('is rejected at start-up without tokenExchange()', () => {
    expect(() => make({ [CHAT]: audience }, [password()])).toThrow(/needs tokenExchange/)
  })
})
