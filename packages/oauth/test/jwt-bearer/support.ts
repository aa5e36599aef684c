import {
  clientCredentials,
  jwtBearer,
  openid,
  password,
  refreshToken,
  type TrustedIssuer,
} from '../../src/index.ts'
import { createSigner, outgoing, type Signer, sign } from '../registration/support.ts'
import { createClient, startServer, type TestServer, type TestServerOptions } from '../support.ts'

export {
  createSigner,
  outgoing,
  type Signer,
  sign,
  startWebServer,
} from '../registration/support.ts'

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
export const ORDERS = 'https://orders.example.com'
/** An API with opaque tokens. */
export const OPAQUE = 'https://opaque.example.com'
/** An API with a single scope. */
export const REPORTS = 'https://reports.example.com'

/** An issuer whose `sub` values map to users through a table. */
export const ACME = 'https://idp.acme.example'
/** Another issuer, whose equal `sub` values mean other users. */
export const GLOBEX = 'https://idp.globex.example'
/** An issuer whose assertions all map to one user. */
export const ANYBODY = 'https://idp.anybody.example'
/** An issuer that identifies users only by e-mail address. */
export const MAIL = 'https://idp.mail.example'
/** An issuer of Identity Assertion JWT Authorization Grants (ID-JAGs). */
export const IDP = 'https://idp.enterprise.example'
/** An issuer of tokens for CI jobs. */
export const CI = 'https://token.ci.example'
/** An issuer of tokens that a platform writes to files. */
export const CLUSTER = 'https://cluster.example'

export interface Issuers {
  readonly acme: Signer
  readonly globex: Signer
  readonly idp: Signer
  readonly ci: Signer
  readonly cluster: Signer
}

export interface Caller {
  readonly id: string
  readonly secret: string
}

export interface AssertionServer extends TestServer {
  readonly issuers: Issuers
  /** A confidential client with the JWT bearer grant. */
  readonly client: Caller
}

/**
 * Client id of each workload, by the subject of the workload. Filled after the clients are created.
 */
export const workloads = new Map<string, string>()

export async function createIssuers(): Promise<Issuers> {
  const [acme, globex, idp, ci, cluster] = await Promise.all(
    ['RS256', 'ES256', 'ES256', 'ES256', 'ES256'].map((algorithm) => createSigner(algorithm)),
  )
  return { acme, globex, idp, ci, cluster } as Issuers
}

export function listTrustedIssuers(issuers: Issuers): TrustedIssuer[] {
  const keysOf = ({ jwk }: Signer) => ({ keys: [jwk] })
  const scopes = ['check-status']
  return [
    { issuer: ACME, jwks: keysOf(issuers.acme), scopes, userOf: { '17': 'ada', '99': 'gone' } },
    {
      issuer: GLOBEX,
      jwks: keysOf(issuers.globex),
      scopes: ['check-status', 'place-orders'],
      userOf: ({ subject }) => (subject === '17' ? 'bob' : undefined),
      userByEmail: (email) => (email === 'bob@globex.example' ? 'bob' : 'ada'),
      emailDomains: ['globex.example'],
    },
    { issuer: ANYBODY, jwks: keysOf(issuers.acme), scopes, userOf: () => 'ada' },
    {
      issuer: MAIL,
      jwks: keysOf(issuers.acme),
      scopes,
      userByEmail: () => 'bob',
      emailDomains: ['Mail.example'],
    },
    { issuer: IDP, jwks: keysOf(issuers.idp), scopes, userOf: { '17': 'ada' }, profile: 'id-jag' },
    {
      issuer: CI,
      jwks: keysOf(issuers.ci),
      scopes,
      clientOf: ({ subject }) => workloads.get(subject),
    },
    {
      issuer: CLUSTER,
      jwks: keysOf(issuers.cluster),
      scopes,
      clientOf: ({ subject }) => workloads.get(subject),
      reusable: true,
    },
  ]
}

export async function startAssertions(
  options: TestServerOptions = {},
  changeIssuers: (issuers: TrustedIssuer[]) => TrustedIssuer[] = (issuers) => issuers,
): Promise<AssertionServer> {
  const issuers = await createIssuers()
  const server = await startServer({
    grants: [
      jwtBearer({ issuers: changeIssuers(listTrustedIssuers(issuers)) }),
      refreshToken(),
      password(),
      clientCredentials(),
    ],
    features: [openid()],
    resources: {
      [ORDERS]: { scopes: ['place-orders', 'check-status'] },
      [REPORTS]: { scopes: ['check-status'] },
      [OPAQUE]: { accessTokenFormat: 'opaque' },
    },
    outgoing: outgoing(),
    ...options,
  })
  const client = await newCaller(server)
  return { ...server, issuers, client }
}

export const newCaller = (server: TestServer, changes: object = {}): Promise<Caller> =>
  createClient(server, { grants: [JWT_BEARER, 'refresh_token'], ...changes })

/** Creates a client without a secret for a workload, such as a CI job or a pod. */
export async function newWorkload(server: TestServer, subject: string): Promise<Caller> {
  const client = await newCaller(server, { confidential: false, grants: [JWT_BEARER] })
  workloads.set(subject, client.id)
  return client
}

let count = 0

export const secondsOf = (server: TestServer) => Math.floor(server.clock.now().getTime() / 1000)

/** Builds the claims of an honest issuer about its subject 17. */
export function claimsFrom(
  server: TestServer,
  iss: string,
  changes: Record<string, unknown> = {},
): Record<string, unknown> {
  count += 1
  const now = secondsOf(server)
  return {
    ...{ iss, sub: '17', aud: server.url, iat: now, exp: now + 60, jti: `assertion ${count}` },
    ...changes,
  }
}

export function signBy(
  { privateKey, algorithm }: Signer,
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): Promise<string> {
  return sign(claims, privateKey, { alg: algorithm, kid: 'key', ...header })
}

/** Creates an assertion of ACME, with optional changes. */
export const assertionFor = (
  server: AssertionServer,
  changes: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
) => signBy(server.issuers.acme, claimsFrom(server, ACME, changes), header)

/** Creates an ID-JAG for the client of the server, with optional changes. */
export const idJagFor = (
  server: AssertionServer,
  changes: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
) =>
  signBy(server.issuers.idp, claimsFrom(server, IDP, { client_id: server.client.id, ...changes }), {
    typ: 'oauth-id-jag+jwt',
    ...header,
  })

export interface Reply {
  readonly status: number
  readonly access_token: string
  readonly refresh_token?: string
  readonly token_type: string
  readonly expires_in: number
  readonly scope: string
  readonly error?: string
  readonly error_description?: string
}

type Asked = Pick<TestServer['oauth'], 'fetch' | 'issuer'>

export async function sendAssertion(
  oauth: Asked,
  client: Caller,
  assertion: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Reply> {
  const form = {
    grant_type: JWT_BEARER,
    assertion,
    client_id: client.id,
    ...(client.secret && { client_secret: client.secret }),
    ...fields,
  }
  const body = new URLSearchParams(form)
  const reply = await oauth.fetch(
    new Request(`${oauth.issuer}/oauth/token`, { method: 'POST', body, headers }),
  )
  return { status: reply.status, ...((await reply.json()) as Omit<Reply, 'status'>) }
}
