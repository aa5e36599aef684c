import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  UnsecuredJWT,
} from 'jose'
import { CLOCK_SKEW } from '../../clock.ts'
import { InvalidRequestObject } from '../../errors.ts'
import type { ClientSettings } from '../../storage/client-settings.ts'
import type { Client } from '../../storage/records.ts'

/** What a request object may be signed with. Never with a shared secret. */
export type RequestObjectAlgorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA' | 'Ed25519'

export const requestObjectAlgorithms: readonly RequestObjectAlgorithm[] = [
  'RS256',
  'PS256',
  'ES256',
  'EdDSA',
  'Ed25519',
]

/** Not jose's own type: its declarations cannot be read from CommonJS, where ours can. */
export type RequestClaims = Readonly<Record<string, unknown>>

export interface ObjectRules {
  readonly client: Client
  readonly issuer: string
  readonly algorithms: readonly RequestObjectAlgorithm[]
  /** `none` will not do, whatever the client's settings say. */
  readonly signed: boolean
  /** The moment at which it has to be valid. */
  readonly at: Date
}

type Keys = ReturnType<typeof createLocalJWKSet>
type KeySet = NonNullable<ClientSettings['jwks']>

/** RFC 9101 §4, and what objects from before it have. Everything else is a JWT for another purpose. */
const TYPES: readonly (string | undefined)[] = [undefined, 'jwt', 'oauth-authz-req+jwt']

/** Imported once for as long as the client is remembered. */
const imported = new WeakMap<KeySet, Keys>()

/** What the object says, if the client has made it for us and it is valid now (RFC 9101 §6.2). */
export async function verifyRequestObject(
  text: string,
  rules: ObjectRules,
): Promise<RequestClaims> {
  try {
    return await verify(text, rules)
  } catch (cause) {
    if (cause instanceof InvalidRequestObject) throw cause
    // Our own words for the rest: it may be a key of the client's that cannot be read.
    const why = cause instanceof errors.JOSEError ? cause.message : 'it cannot be read'
    throw new InvalidRequestObject(`The request object is refused: ${why}`, { cause })
  }
}

async function verify(text: string, rules: ObjectRules): Promise<JWTPayload> {
  const { client, issuer, signed, at } = rules
  const { alg, typ } = decodeProtectedHeader(text)
  if (!TYPES.includes(typ?.toLowerCase().replace(/^application\//, ''))) {
    throw new InvalidRequestObject('The request object has the typ of something else')
  }
  const times = { currentDate: at, clockTolerance: CLOCK_SKEW / 1000 }
  const wished = client.settings.request_object_signing_alg
  if (alg === 'none' && wished === 'none' && !signed) {
    const { payload } = UnsecuredJWT.decode(text, times)
    assertMeant(payload, client.id, issuer)
    return payload
  }
  const algorithms = rules.algorithms.filter((name) => wished === undefined || name === wished)
  if (!algorithms.some((name) => name === alg)) {
    throw new InvalidRequestObject('The request object is not signed with what this client may use')
  }
  const { jwks } = client.settings
  if (!jwks) throw new InvalidRequestObject('This client has no keys to sign requests with')
  const meant = { issuer: client.id, audience: issuer }
  return verifyWithAny(text, keysOf(jwks), { algorithms, ...meant, ...times })
}

/** Who signs nothing need not say either; whoever says so says the truth. */
function assertMeant({ iss, aud }: JWTPayload, clientId: string, issuer: string): void {
  if (iss !== undefined && iss !== clientId) throw new InvalidRequestObject('iss is not the client')
  if (aud !== undefined && ![aud].flat().includes(issuer)) {
    throw new InvalidRequestObject('aud is not this server')
  }
}

function keysOf(jwks: KeySet): Keys {
  const known = imported.get(jwks)
  if (known) return known
  const keys = createLocalJWKSet(jwks as unknown as JSONWebKeySet)
  imported.set(jwks, keys)
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
