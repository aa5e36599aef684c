import { createHash, randomUUID } from 'node:crypto'
import {
  authorizationCode,
  clientCredentials,
  type Fapi2Options,
  fapi2,
  refreshToken,
} from '../../src/index.ts'
import { type KeyHolderKeys, makeProof, newHolder } from '../dpop/support.ts'
import {
  ASSERTION_TYPE,
  assertionClaims,
  createSigner,
  type Signer,
  sign,
} from '../registration/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  submitApprovalDecision,
  type TestServer,
  type TestServerOptions,
} from '../support.ts'

export const VERIFIER = 'a-verifier-that-is-long-enough-for-anybody-1'
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

export const GRANTS = [authorizationCode(), refreshToken(), clientCredentials()]

export function startFapi(
  options: Fapi2Options = {},
  changes: TestServerOptions = {},
): Promise<TestServer> {
  return startServer({ grants: GRANTS, features: [fapi2(options)], ...changes })
}

/** A client with one key for its assertions and one for its DPoP proofs. */
export interface KeyClient {
  readonly id: string
  readonly signer: Signer
  readonly holder: KeyHolderKeys
}

export async function newKeyClient(
  server: TestServer,
  algorithm = 'ES256',
  changes: Partial<Parameters<typeof createClient>[1]> = {},
): Promise<KeyClient> {
  const signer = await createSigner(algorithm)
  const { id } = await createClient(server, {
    grants: ['authorization_code', 'refresh_token', 'client_credentials'],
    settings: { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [signer.jwk] } },
    ...changes,
  })
  return { id, signer, holder: await newHolder() }
}

type Form = Readonly<Record<string, string | undefined>>

/** Differences from the request of an honest client. */
export interface Changes {
  /** Parameters to change; `undefined` omits a parameter. */
  readonly params?: Form
  /** Claims of the client assertion to change; `null` sends no assertion. */
  readonly assertion?: Readonly<Record<string, unknown>> | null
  /** The key that signs the assertion. */
  readonly signer?: Signer
  /** The holder whose proof is sent; `null` sends none. */
  readonly holder?: KeyHolderKeys | null
}

/**
 * Sends a form to an endpoint as the client, with its assertion and, unless disabled, a DPoP proof.
 */
export async function send(
  server: TestServer,
  path: string,
  client: KeyClient,
  form: Form,
  changes: Changes = {},
): Promise<Response> {
  const { holder = client.holder, signer = client.signer } = changes
  const proof =
    holder &&
    (await makeProof(holder, {
      url: `${server.url}${path}`,
      method: 'POST',
      at: server.clock.now(),
      claims: { jti: randomUUID() },
    }))
  const params = {
    ...form,
    ...(await assertionOf(server, client, signer, changes)),
    ...changes.params,
  }
  const sent = Object.entries(params).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  )
  return server.post(path, Object.fromEntries(sent), proof ? { dpop: proof } : {})
}

async function assertionOf(
  server: TestServer,
  { id }: KeyClient,
  signer: Signer,
  { assertion = {} }: Changes,
): Promise<Form> {
  if (assertion === null) return {}
  const claims = { ...assertionClaims(server, id), ...assertion }
  const header = { alg: signer.algorithm, kid: String(signer.jwk.kid) }
  return {
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: await sign(claims, signer.privateKey, header),
  }
}

/** The parameters that an honest client pushes. */
export const requestOf = ({ id }: KeyClient): Form => ({
  client_id: id,
  redirect_uri: REDIRECT,
  response_type: 'code',
  scope: 'place-orders',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
})

export const push = (server: TestServer, client: KeyClient, changes: Changes = {}) =>
  send(server, '/oauth/par', client, requestOf(client), changes)

/** Pushes a request, approves it as Ada, and returns the URL she is redirected to. */
export async function approve(
  server: TestServer,
  client: KeyClient,
  changes: Changes = {},
): Promise<URL> {
  const reply = await push(server, client, changes)
  if (reply.status !== 201) throw new Error(`${reply.status} ${await reply.text()}`)
  const { request_uri } = (await reply.json()) as { request_uri: string }
  const page = await requestAuthorization(server, 'ada', { client_id: client.id, request_uri })
  if (page.status === 200) return submitApprovalDecision(server, 'ada', page)
  return new URL(page.headers.get('location') ?? `error:${page.status}`)
}

export function exchange(
  server: TestServer,
  client: KeyClient,
  redirectedUrl: URL,
  changes: Changes = {},
): Promise<Response> {
  const form = {
    grant_type: 'authorization_code',
    code: redirectedUrl.searchParams.get('code') ?? '',
    redirect_uri: REDIRECT,
    code_verifier: VERIFIER,
  }
  return send(server, '/oauth/token', client, form, changes)
}

export function refresh(
  server: TestServer,
  client: KeyClient,
  refresh_token: string,
  changes: Changes = {},
): Promise<Response> {
  return send(
    server,
    '/oauth/token',
    client,
    { grant_type: 'refresh_token', refresh_token },
    changes,
  )
}

export interface Tokens {
  readonly token_type: string
  readonly access_token: string
  readonly refresh_token: string
}

export async function tokensOf(server: TestServer, client: KeyClient): Promise<Tokens> {
  const reply = await exchange(server, client, await approve(server, client))
  if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`)
  return (await reply.json()) as Tokens
}

/** Returns the status and error code of a response, so that a test can compare both together. */
export async function readStatusAndError(reply: Response): Promise<[number, string | undefined]> {
  const { error } = (await reply.json()) as { error?: string }
  return [reply.status, error]
}
