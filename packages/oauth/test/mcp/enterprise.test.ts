import {
  auth,
  Client,
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AuthorizationServer,
  authorizationCode,
  jwtBearer,
  openid,
  refreshToken,
  tokenExchange,
} from '../../src/index.ts'
import { newClient, type OpenIdServer, signIn, startOpenId } from '../openid/support.ts'
import { createClient } from '../support.ts'
import { type NotesServer, startNotes } from './notes-server.ts'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const CI = 'https://token.ci.example'
const JOB = 'repo:acme/site:environment:production'

interface Credentials {
  readonly id: string
  readonly secret: string
}

/** The company's identity provider. Its ids for people differ from those of the MCP server. */
let company: OpenIdServer
/** The identity provider with the settings that trust the MCP server. */
let provider: Pick<AuthorizationServer, 'fetch'>
let atProvider: Credentials
let notes: NotesServer
let atNotes: Credentials
let job: Credentials
const keys = await generateKeyPair('ES256', { extractable: true })
const clientOf: Record<string, string> = {}

beforeAll(async () => {
  const grants = [authorizationCode(), tokenExchange()]
  company = await startOpenId({ issuer: 'http://localhost:4998', grants })
  const jwks = await (await company.request('/.well-known/jwks.json')).json()
  const scopes = ['notes:read']
  const issuers = [
    { issuer: company.url, jwks, scopes, userOf: { ada: 'bob' }, profile: 'id-jag' as const },
    { issuer: CI, jwks: { keys: [await exportJWK(keys.publicKey)] }, scopes, clientOf },
  ]
  const offered = [authorizationCode(), refreshToken(), jwtBearer({ issuers })]
  notes = await startNotes({ changes: { grants: offered } })
  atNotes = await createClient(notes, { grants: [JWT_BEARER] })
  job = await createClient(notes, { grants: [JWT_BEARER], confidential: false })
  clientOf[JOB] = job.id
  atProvider = await newClient(company, { grants: ['authorization_code', TOKEN_EXCHANGE] })
  const clients = { [atProvider.id]: atNotes.id }
  const audience = { clients, scopes, resources: [notes.address] }
  provider = company.another({
    grants,
    features: [openid({ identityAssertions: { [notes.url]: audience } })],
  })
})
afterAll(async () => {
  await notes.close()
  await company.close()
})

/** Calls the tool with a client that knows only the address and how it gets its token. */
async function callTool(authProvider: OAuthClientProvider): Promise<string> {
  const client = new Client({ name: 'tests', version: '1.0.0' })
  const url = new URL(notes.address)
  try {
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider }))
    const { content } = await client.callTool({ name: 'list_notes', arguments: {} })
    return (content as readonly { text: string }[])[0]?.text ?? ''
  } finally {
    await client.close()
  }
}

describe('the official MCP client 2.x', () => {
  it("calls a tool with an ID token of the company's identity provider, without showing an approval screen", async () => {
    const { id_token: idToken } = await signIn(company, atProvider)
    const asked: string[] = []
    const access = new CrossAppAccessProvider({
      assertion: async ({ authorizationServerUrl, resourceUrl, scope }) => {
        asked.push(authorizationServerUrl)
        const { jwtAuthGrant } = await discoverAndRequestJwtAuthGrant({
          idpUrl: company.url,
          audience: authorizationServerUrl,
          resource: resourceUrl,
          idToken,
          clientId: atProvider.id,
          clientSecret: atProvider.secret,
          ...(scope !== undefined && { scope }),
          fetchFn: (address, init) => provider.fetch(new Request(address, init)),
        })
        return jwtAuthGrant
      },
      clientId: atNotes.id,
      clientSecret: atNotes.secret,
      expectedIssuer: notes.url,
    })
    expect(await callTool(access)).toBe('0 notes')
    expect(asked).toEqual([notes.url])
    const [token] = await notes.oauth.tokens.listByUser('bob')
    expect(token).toMatchObject({ clientId: atNotes.id, scopes: ['notes:read'] })
  })

  it('gets a token for the MCP server with only the token of its workload platform', async () => {
    let tokens: OAuthTokens | undefined
    const workload: OAuthClientProvider = {
      redirectUrl: undefined,
      clientMetadata: { redirect_uris: [], grant_types: [JWT_BEARER] },
      clientInformation: () => ({ client_id: job.id }),
      tokens: () => tokens,
      saveTokens: (given) => {
        tokens = given
      },
      redirectToAuthorization: () => expect.unreachable('A workload has no browser'),
      saveCodeVerifier: () => {},
      codeVerifier: () => expect.unreachable('There is no code'),
      prepareTokenRequest: async () => {
        const now = Math.floor(notes.clock.now().getTime() / 1000)
        const assertion = await new SignJWT({ iss: CI, sub: JOB, aud: notes.url, jti: 'a job' })
          .setProtectedHeader({ alg: 'ES256' })
          .setIssuedAt(now)
          .setExpirationTime(now + 300)
          .sign(keys.privateKey)
        return new URLSearchParams({ grant_type: JWT_BEARER, assertion })
      },
    }
    expect(await auth(workload, { serverUrl: notes.address })).toBe('AUTHORIZED')
    const authorization = `Bearer ${tokens?.access_token}`
    const credentials = { authorization, cookie: null, csrfToken: null }
    const guard = notes.oauth.guardFor(notes.address)
    expect(await guard.authenticate('client', credentials)).toMatchObject({ clientId: job.id })
  })
})
