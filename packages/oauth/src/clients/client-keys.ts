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

type Keys = ReturnType<typeof createLocalJWKSet>

const KEY_SET: DocumentRules = {
  types: ['application/json'],
  largest: 64 * 1024,
  usableWhenAway: 24 * 3600,
}

/** The client has given none. */
export class NoClientKeys extends Error {
  override readonly name = 'NoClientKeys'
}

/** Imported once for as long as the set is remembered. */
const imported = new WeakMap<object, Keys>()

/** The public keys of a signer: a set, or its address. */
export interface SignerKeys {
  readonly jwks?: object | undefined
  readonly jwks_uri?: string | undefined
  /** Keys that were fetched before this moment may have been those of another signer. */
  readonly since?: Date
}

/**
 * What a JWT says that the client has signed with one of its keys: those in its settings, or those at its
 * `jwks_uri`. Where a key is missing there, they are fetched again, because it may have changed them.
 */
export function verifyByClient(
  text: string,
  { settings: { jwks, jwks_uri }, createdAt: since }: Client,
  options: JWTVerifyOptions,
  context: Pick<ServerContext, 'outgoing' | 'network'>,
): Promise<JWTPayload> {
  return verifyByKeys(text, { jwks, jwks_uri, since }, options, context)
}

/** Verifies a JWT with the keys of its signer. Fetches them again once if none of those known fits. */
export async function verifyByKeys(
  text: string,
  { jwks, jwks_uri, since }: SignerKeys,
  options: JWTVerifyOptions,
  { outgoing, network }: Pick<ServerContext, 'outgoing' | 'network'>,
): Promise<JWTPayload> {
  if (jwks) return verifyWithAny(text, keysOf(jwks), options)
  if (jwks_uri === undefined) throw new NoClientKeys('This client has no keys')
  const known = await outgoing.documents.get(jwks_uri, KEY_SET, network)
  try {
    return await verifyWithAny(text, keysOf(known.content), options)
  } catch (error) {
    if (!mayBeNewKey(error)) throw error
    // An address that another client had before may hold other keys now.
    const fresh = await outgoing.documents.getAgain(jwks_uri, KEY_SET, network, since)
    if (fresh.content === known.content) throw error
    return verifyWithAny(text, keysOf(fresh.content), options)
  }
}

function mayBeNewKey(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSSignatureVerificationFailed
  )
}

function keysOf(set: unknown): Keys {
  if (typeof set !== 'object' || set === null) throw new errors.JWKSInvalid('This is no key set')
  const known = imported.get(set)
  if (known) return known
  const keys = createLocalJWKSet(set as JSONWebKeySet)
  imported.set(set, keys)
  return keys
}

/** A client with several keys of one kind should say which by `kid`; one that does not is not refused. */
async function verifyWithAny(
  text: string,
  keys: Keys,
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
