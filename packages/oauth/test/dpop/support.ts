import { createHash, randomUUID } from 'node:crypto'
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  type JWK,
  SignJWT,
} from 'jose'
import type { TestServer } from '../support.ts'

/** A holder of a DPoP key. */
export interface KeyHolderKeys {
  readonly alg: string
  readonly publicJwk: JWK
  readonly privateJwk: JWK
  readonly privateKey: CryptoKey
  readonly thumbprint: string
}

export async function newHolder(alg = 'ES256'): Promise<KeyHolderKeys> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const publicJwk = await exportJWK(publicKey)
  return {
    alg,
    publicJwk,
    privateJwk: await exportJWK(privateKey),
    privateKey,
    thumbprint: await calculateJwkThumbprint(publicJwk),
  }
}

export interface ProofRequest {
  readonly url: string
  readonly method?: string
  /** The access token the proof is sent with. */
  readonly token?: string
  readonly at: Date
  /** Claims that replace the claims of an honest client; `undefined` omits a claim. */
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
}

/** Makes a proof with the contents of RFC 9449 §4.2, unless overridden. */
export function makeProof(holder: KeyHolderKeys, proof: ProofRequest): Promise<string> {
  const { url, method = 'GET', token, at, claims = {}, header = {} } = proof
  return new SignJWT({
    jti: randomUUID(),
    htm: method,
    htu: url,
    iat: Math.floor(at.getTime() / 1000),
    ...(token !== undefined && { ath: hashOf(token) }),
    ...claims,
  })
    .setProtectedHeader({ alg: holder.alg, typ: 'dpop+jwt', jwk: holder.publicJwk, ...header })
    .sign(holder.privateKey)
}

export const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')

/** Makes a proof for the token endpoint. */
export function tokenProof(
  server: TestServer,
  holder: KeyHolderKeys,
  changes: Partial<ProofRequest> = {},
): Promise<string> {
  const url = `${server.url}/oauth/token`
  return makeProof(holder, { url, method: 'POST', at: server.clock.now(), ...changes })
}

export interface BoundReply {
  readonly token_type: string
  readonly access_token: string
  readonly refresh_token: string
}

interface FlowClient {
  readonly id: string
  readonly secret: string
}

/** Requests a token with Ada's password and this proof. */
export function askByPassword(
  server: TestServer,
  client: FlowClient,
  proof: string | null,
  scope = 'place-orders check-status',
): Promise<Response> {
  const form = {
    grant_type: 'password',
    client_id: client.id,
    ...(client.secret && { client_secret: client.secret }),
    username: 'ada@example.com',
    password: 'correct horse',
    scope,
  }
  return server.post('/oauth/token', form, proof === null ? undefined : { dpop: proof })
}

export function refresh(
  server: TestServer,
  client: FlowClient,
  refreshToken: string,
  proof: string | null,
): Promise<Response> {
  const form = {
    grant_type: 'refresh_token',
    client_id: client.id,
    ...(client.secret && { client_secret: client.secret }),
    refresh_token: refreshToken,
  }
  return server.post('/oauth/token', form, proof === null ? undefined : { dpop: proof })
}

export async function requestBoundTokens(
  server: TestServer,
  client: FlowClient,
  holder: KeyHolderKeys,
  scope?: string,
): Promise<BoundReply> {
  const reply = await askByPassword(server, client, await tokenProof(server, holder), scope)
  if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`)
  return (await reply.json()) as BoundReply
}

export const claimsOf = (jwt: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
