import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import type { ServerContext } from '../context.ts'
import type { DocumentRules } from '../outgoing/documents.ts'
import type { Client } from '../storage/records.ts'

type ClientKeySet = ReturnType<typeof createLocalJWKSet>

const KEY_SET: DocumentRules = {
  types: ['application/json'],
  largest: 64 * 1024,
  staleIfError: 24 * 3600,
}

/** Thrown when a client has neither `jwks` nor `jwks_uri`. */
export class NoClientKeys extends Error {
  override readonly name = 'NoClientKeys'
}

/** Imported key sets, kept for as long as the set itself is in memory. */
const imported = new WeakMap<object, ClientKeySet>()

/** The public keys of a party that signs JWTs: given directly (`jwks`) or by URL (`jwks_uri`). */
export interface SignerKeys {
  readonly jwks?: object | undefined
  readonly jwks_uri?: string | undefined
  /**
   * When the signer was registered. Keys fetched earlier may belong to a previous owner of the URL.
   */
  readonly since?: Date
}

/**
 * Verifies a JWT signed by a client, with the keys in its settings or at its `jwks_uri`, and
 * returns its claims. Fetches the keys again if none matches, because the client may have rotated
 * them.
 */
export function verifyClientJwt(
  text: string,
  { settings: { jwks, jwks_uri }, createdAt: since }: Client,
  options: JWTVerifyOptions,
  context: Pick<ServerContext, 'outgoing' | 'network'>,
): Promise<JWTPayload> {
  return verifyJwtWithKeys(text, { jwks, jwks_uri, since }, options, context)
}

/**
 * Verifies a JWT with the public keys of the party that signed it, and returns its claims. If no
 * key matches, fetches the keys again once.
 */
export async function verifyJwtWithKeys(
  text: string,
  { jwks, jwks_uri, since }: SignerKeys,
  options: JWTVerifyOptions,
  { outgoing, network }: Pick<ServerContext, 'outgoing' | 'network'>,
): Promise<JWTPayload> {
  if (jwks) return verifyWithAny(text, createKeySet(jwks), options)
  if (jwks_uri === undefined) throw new NoClientKeys('This client has no keys')
  const known = await outgoing.documents.get(jwks_uri, KEY_SET, network)
  try {
    return await verifyWithAny(text, createKeySet(known.content), options)
  } catch (error) {
    if (!mayBeNewKey(error)) throw error
    // `since` prevents the use of keys cached for another client that had this URL before.
    const fresh = await outgoing.documents.refetch(jwks_uri, KEY_SET, network, since)
    if (fresh.content === known.content) throw error
    return verifyWithAny(text, createKeySet(fresh.content), options)
  }
}

function mayBeNewKey(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSSignatureVerificationFailed
  )
}

function createKeySet(set: unknown): ClientKeySet {
  if (typeof set !== 'object' || set === null)
    throw new errors.JWKSInvalid('The value is not a JSON Web Key Set')
  const known = imported.get(set)
  if (known) return known
  const keys = createLocalJWKSet(set as JSONWebKeySet)
  imported.set(set, keys)
  return keys
}

/**
 * Tries all matching keys. A client with several keys of one type should send a `kid`, but is not
 * rejected without it.
 */
async function verifyWithAny(
  text: string,
  keys: ClientKeySet,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(text, keys, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      try {
        return (await jwtVerify(text, key, options)).payload
      } catch (refused) {
        if (!(refused instanceof errors.JWSSignatureVerificationFailed)) throw refused
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}
