import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose'
import { type ClientSettings, requestObjects } from '../../src/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  type TestServer,
  type TestServerOptions,
} from '../support.ts'

export interface Signer {
  readonly algorithm: string
  readonly privateKey: CryptoKey
  readonly jwk: Readonly<Record<string, unknown>>
}

export interface SigningClient {
  readonly id: string
  readonly secret: string
  readonly signer: Signer
}

export function startObjects(options: TestServerOptions = {}): Promise<TestServer> {
  return startServer({ features: [requestObjects()], ...options })
}

export async function createSigner(algorithm: string, kid = 'key'): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  return { algorithm, privateKey, jwk: { ...(await exportJWK(publicKey)), kid } }
}

export async function createSigningClient(
  server: TestServer,
  settings: ClientSettings = {},
  algorithm = 'ES256',
): Promise<SigningClient> {
  const signer = await createSigner(algorithm)
  const jwks = { keys: [signer.jwk] }
  const client = await createClient(server, { firstParty: true, settings: { jwks, ...settings } })
  return { ...client, signer }
}

/** Builds the claims of an honest client's request object. */
export function claimsOf(server: TestServer, client: { readonly id: string }) {
  const now = Math.floor(server.clock.now().getTime() / 1000)
  return {
    iss: client.id,
    aud: server.url,
    exp: now + 60,
    nbf: now,
    client_id: client.id,
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'place-orders',
    state: 'signed',
  }
}

export function sign(
  { algorithm, privateKey }: Signer,
  claims: object,
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: algorithm, typ: 'oauth-authz-req+jwt', kid: 'key', ...header })
    .sign(privateKey)
}

/** Signs the request object of an honest client, with changes. */
export function signedBy(
  server: TestServer,
  client: SigningClient,
  changes: object = {},
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  return sign(client.signer, { ...claimsOf(server, client), ...changes }, header)
}

export function requestWithObject(
  server: TestServer,
  client: { readonly id: string },
  request: string,
  extraParams: Record<string, string> = {},
): Promise<Response> {
  return requestAuthorization(server, 'ada', { client_id: client.id, request, ...extraParams })
}

export const encodeUnsigned = (claims: object, header: object = { alg: 'none' }): string =>
  `${[header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`

/** Returns the error that a JSON caller receives before the redirect URI is verified. */
export async function requestAndReadError(server: TestServer, query: Record<string, string>) {
  const reply = await server.request(`/oauth/authorize?${new URLSearchParams(query)}`, {
    headers: { cookie: 'session=ada.1', accept: 'application/json' },
  })
  return { status: reply.status, ...(await reply.json()) }
}
