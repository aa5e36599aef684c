import { createLocalJWKSet, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose'
import {
  authorizationCode,
  implicit,
  openid,
  password,
  refreshToken,
  type SignedIn,
  type UserClaims,
} from '../../src/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  submitApprovalDecision,
  type TestServer,
  type TestServerOptions,
  type TestUser,
  TestUsers,
} from '../support.ts'

/** Every claim of the standard, and one of the application's own. */
export const ADA = {
  name: 'Ada Lovelace',
  given_name: 'Ada',
  family_name: 'Lovelace',
  locale: 'en-GB',
  updated_at: 1_767_225_600,
  email: 'ada@example.com',
  email_verified: true,
  phone_number: '+44 20 7946 0000',
  phone_number_verified: false,
  address: { country: 'United Kingdom', locality: 'London' },
}

export class UsersWithClaims extends TestUsers {
  /** The scopes of each call to the application, in order. */
  readonly requestedScopes: string[][] = []
  /** The claims the application returns, `ADA` by default. */
  claimsFor: (scopes: readonly string[]) => object = () => ADA

  /** How people have signed in (`acr`), if the application knows. */
  acr: string | null = null

  override async fromRequest(request: Request): Promise<SignedIn | null> {
    const found = await super.fromRequest(request)
    return found && { ...found, ...(this.acr !== null && { acr: this.acr }) }
  }

  async claims(_user: TestUser, scopes: readonly string[]): Promise<UserClaims> {
    this.requestedScopes.push([...scopes])
    return { ...this.claimsFor(scopes) }
  }
}

export interface OpenIdServer extends TestServer {
  readonly people: UsersWithClaims
}

export async function startOpenId(
  options: TestServerOptions = {},
  settings: Parameters<typeof openid>[0] = {},
): Promise<OpenIdServer> {
  const people = new UsersWithClaims()
  const server = await startServer({
    users: people,
    grants: [authorizationCode(), refreshToken(), password(), implicit()],
    features: [openid(settings)],
    ...options,
  })
  return { ...server, people }
}

export const newClient = (server: TestServer, changes: object = {}) =>
  createClient(server, { grants: ['authorization_code', 'refresh_token', 'password'], ...changes })

export interface OpenIdReply {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token: string
  readonly scope: string
}

interface FlowClient {
  readonly id: string
  readonly secret: string
}

/** Sends the authorization request, approves it as Ada if necessary, and returns the redirect. */
export async function authorize(
  server: TestServer,
  client: FlowClient,
  params: Record<string, string> = {},
): Promise<URL> {
  const page = await requestAuthorization(server, 'ada', {
    client_id: client.id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid',
    ...params,
  })
  if (page.status === 200) return submitApprovalDecision(server, 'ada', page)
  return new URL(page.headers.get('location') ?? `error:${page.status}`, server.url)
}

export function exchange(server: TestServer, client: FlowClient, code: string): Promise<Response> {
  return server.post('/oauth/token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT,
    client_id: client.id,
    client_secret: client.secret,
  })
}

export async function signIn(
  server: TestServer,
  client: FlowClient,
  params: Record<string, string> = {},
): Promise<OpenIdReply> {
  const back = await authorize(server, client, params)
  const reply = await exchange(server, client, back.searchParams.get('code') ?? '')
  if (reply.status !== 200) throw new Error(`${back} ${reply.status} ${await reply.text()}`)
  return (await reply.json()) as OpenIdReply
}

/** Verifies an ID token with the published keys, as its client would. */
export async function verifyIdToken(
  server: TestServer,
  client: FlowClient,
  text: string,
): Promise<JWTVerifyResult<JWTPayload & Record<string, unknown>>> {
  const jwks = await (await server.request('/.well-known/jwks.json')).json()
  return jwtVerify(text, createLocalJWKSet(jwks), {
    issuer: server.url,
    audience: client.id,
    currentDate: server.clock.now(),
  })
}

export function requestUserInfo(server: TestServer, token: string, init: RequestInit = {}) {
  return server.request('/oauth/userinfo', {
    ...init,
    headers: { authorization: `Bearer ${token}`, ...init.headers },
  })
}
