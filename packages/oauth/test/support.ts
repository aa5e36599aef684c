import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ConnectOptions, type Database, migrate } from '@tollgate/database'
import { fromWebRequest } from '@tollgate/http'
import { createTestDatabase, type Template } from '../../../test-support/create-test-database.ts'
import { insertSigningKeys } from '../../../test-support/signing-keys.ts'
import { nodeListener } from '../src/adapters/node.ts'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  authorizationCode,
  clientCredentials,
  createAuthorizationServer,
  implicit,
  oauthMigrations,
  password,
  refreshToken,
  type SignedIn,
} from '../src/index.ts'
import { type MovableClock, movableClock } from '../src/testing/index.ts'

export const SECRET = 'a test secret of more than thirty-two characters'
export const REDIRECT = 'https://app.example/callback'
export const SCOPES = { 'place-orders': 'Place orders', 'check-status': 'Check order status' }

export interface TestUser {
  readonly id: string
  readonly email: string
  readonly password: string
}

/** The application's users. A session is the header `cookie: session=<user id>.<anything>`. */
export class TestUsers {
  /** Time of the sign-in of each session. Sessions without an entry report no time. */
  readonly signIns = new Map<string, Date>()

  readonly all = new Map<string, TestUser>(
    [
      { id: 'ada', email: 'ada@example.com', password: 'correct horse' },
      { id: 'bob', email: 'bob@example.com', password: 'battery staple' },
    ].map((user) => [user.id, user]),
  )

  async findById(id: string): Promise<TestUser | null> {
    return this.all.get(id) ?? null
  }

  async findByCredentials(username: string, secret: string): Promise<TestUser | null> {
    const found = [...this.all.values()].find(({ email }) => email === username)
    return found?.password === secret ? found : null
  }

  async fromRequest(request: Request): Promise<SignedIn | null> {
    const session = /(?:^|; )session=([^;]+)/.exec(request.headers.get('cookie') ?? '')?.[1]
    const user = this.all.get(session?.split('.')[0] ?? '')
    if (!session || !user) return null
    const authenticatedAt = this.signIns.get(session)
    return { id: user.id, sessionId: session, ...(authenticatedAt && { authenticatedAt }) }
  }
}

export interface TestServer {
  readonly oauth: AuthorizationServer<TestUser>
  readonly users: TestUsers
  readonly clock: MovableClock
  readonly database: Database
  readonly url: string
  readonly databaseUrl: string
  readonly logged: unknown[]
  /** Requests a path of the issuer through `fetch()` of the server, without a network. */
  request(path: string, init?: RequestInit): Promise<Response>
  /** Posts a form, as clients do. */
  post(path: string, form: Record<string, string>, headers?: HeadersInit): Promise<Response>
  /** Sends a JSON request of the signed-in user, with the CSRF token of the session. */
  json(user: string, method: string, path: string, body?: unknown): Promise<Response>
  /**
   * Returns the cookie of cookie mode and the CSRF token that the fresh-token middleware sets for
   * this user.
   */
  cookieMode(user: string): Promise<{ cookie: string; csrfToken: string }>
  /** Creates another server on the same database, as another process does. */
  another(changes?: Partial<AuthorizationServerOptions<TestUser>>): AuthorizationServer<TestUser>
  close(): Promise<void>
}

export type TestServerOptions = Partial<AuthorizationServerOptions<TestUser>> & {
  readonly connect?: ConnectOptions
}

/** Template database with every table of the package. */
export const oauthTables: Template = {
  name: 'oauth',
  fill: (database) => migrate(database, oauthMigrations),
}

/** Starts an authorization server on the database of this test project. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { connect, ...changes } = options
  const {
    database,
    url: databaseUrl,
    drop,
  } = await createTestDatabase({
    ...connect,
    template: oauthTables,
  })
  const users = new TestUsers()
  const clock = movableClock()
  const logged: unknown[] = []
  const issuer = changes.issuer ?? 'http://localhost:4999'
  const settings: AuthorizationServerOptions<TestUser> = {
    issuer,
    secret: SECRET,
    ...(changes.storage ? {} : { database }),
    users,
    scopes: SCOPES,
    grants: [authorizationCode(), refreshToken(), password(), implicit(), clientCredentials()],
    clock,
    logger: { error: (message, error) => logged.push([message, error]) },
    ...changes,
  }
  if (changes.secret === undefined && !changes.storage) {
    await insertSigningKeys(database, {
      secret: SECRET,
      now: settings.clock?.now() ?? clock.now(),
      signingAlgorithm: changes.signingAlgorithm,
      features: changes.features,
    })
  }
  const oauth = createAuthorizationServer(settings)
  const others: AuthorizationServer<TestUser>[] = []
  await oauth.ready()

  const request = (path: string, init?: RequestInit) =>
    oauth.fetch(new Request(new URL(path, issuer), { redirect: 'manual', ...init }))

  async function cookieMode(user: string) {
    const page = new Request(issuer, { headers: { cookie: buildSessionCookie(user) } })
    const fresh = await oauth.freshToken(fromWebRequest(page))
    const cookie = fresh.setCookie?.split(';')[0] ?? ''
    return { cookie, csrfToken: fresh.csrfToken ?? '' }
  }

  return {
    oauth,
    users,
    clock,
    database,
    url: issuer,
    databaseUrl,
    logged,
    request,
    post: (path, form, headers) =>
      request(path, {
        method: 'POST',
        body: new URLSearchParams(form),
        ...(headers && { headers }),
      }),
    async json(user, method, path, body) {
      const { csrfToken } = await cookieMode(user)
      return request(path, {
        method,
        headers: {
          cookie: buildSessionCookie(user),
          accept: 'application/json',
          'x-csrf-token': csrfToken,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    },
    cookieMode,
    another(changes = {}) {
      const other = createAuthorizationServer({ ...settings, ...changes })
      others.push(other)
      return other
    },
    async close() {
      for (const each of [oauth, ...others]) each.close()
      await drop()
    },
  }
}

export function buildSessionCookie(user: string): string {
  return `session=${user}.1`
}

export interface ListeningServer extends TestServer {
  close(): Promise<void>
}

/** Starts a server that listens on loopback, with its port in the issuer. */
export async function listen(options: TestServerOptions = {}): Promise<ListeningServer> {
  const http: Server = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  const server = await startServer({ issuer: `http://127.0.0.1:${port}`, ...options })
  http.on('request', nodeListener(server.oauth))
  return {
    ...server,
    async close() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
      await server.close()
    },
  }
}

/**
 * Presses a button of the approval screen as the signed-in user and returns the redirect target.
 */
export async function submitApprovalDecision(
  server: TestServer,
  user: string,
  page: Response,
  decision: 'approve' | 'deny' = 'approve',
): Promise<URL> {
  const html = await page.text()
  const action = decodeEntities(/action="([^"]+)"/.exec(html)?.[1])
  const csrfToken = decodeEntities(/name="csrf_token" value="([^"]+)"/.exec(html)?.[1])
  const reply = await server.post(
    action,
    { csrf_token: csrfToken, decision },
    { cookie: buildSessionCookie(user), origin: server.url },
  )
  return new URL(reply.headers.get('location') ?? `error:${reply.status}`)
}

function decodeEntities(text = ''): string {
  return text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"')
}

/** Sends an authorization request from a signed-in browser. */
export function requestAuthorization(
  server: TestServer,
  user: string,
  params: Record<string, string>,
): Promise<Response> {
  return server.request(`/oauth/authorize?${new URLSearchParams(params)}`, {
    headers: { cookie: buildSessionCookie(user), accept: 'text/html' },
  })
}

export interface TokenReply {
  readonly token_type: string
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly scope: string
}

/** Code verifier of public clients, which have no secret. */
const VERIFIER = 'a-verifier-that-is-long-enough-for-anybody-1'
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

/** Runs the code flow up to the tokens, with PKCE if the client has no secret. */
export async function runCodeFlow(
  server: TestServer,
  client: { readonly id: string; readonly secret: string },
  options: { readonly user?: string; readonly scope?: string } = {},
): Promise<TokenReply> {
  const { user = 'ada', scope = 'place-orders' } = options
  const page = await requestAuthorization(server, user, {
    client_id: client.id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope,
    ...(client.secret ? {} : { code_challenge: CHALLENGE, code_challenge_method: 'S256' }),
  })
  const answered =
    page.status === 200
      ? await submitApprovalDecision(server, user, page)
      : new URL(page.headers.get('location') ?? '')
  const reply = await server.post('/oauth/token', {
    grant_type: 'authorization_code',
    client_id: client.id,
    ...(client.secret ? { client_secret: client.secret } : { code_verifier: VERIFIER }),
    redirect_uri: REDIRECT,
    code: answered.searchParams.get('code') ?? '',
  })
  if (reply.status !== 200) throw new Error(`No token: ${await reply.text()}`)
  return (await reply.json()) as TokenReply
}

export async function createClient(
  server: TestServer,
  options: Partial<Parameters<TestServer['oauth']['clients']['create']>[0]> = {},
): Promise<{ id: string; secret: string }> {
  const { client, secret } = await server.oauth.clients.create({
    name: 'Test app',
    redirect: REDIRECT,
    ...options,
  })
  return { id: client.id, secret: secret ?? '' }
}
