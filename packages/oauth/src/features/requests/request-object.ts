import { decodeProtectedHeader, errors, type JWTPayload, UnsecuredJWT } from 'jose'
import { NoClientKeys, verifyByClient } from '../../clients/client-keys.ts'
import { CLOCK_SKEW } from '../../clock.ts'
import type { ServerContext } from '../../context.ts'
import type { ClientKeyAlgorithm } from '../../crypto.ts'
import { InvalidRequestObject } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'

/** Not jose's own type: its declarations cannot be read from CommonJS, where ours can. */
export type RequestClaims = Readonly<Record<string, unknown>>

export interface ObjectRules {
  readonly client: Client
  /** What the client calls itself. */
  readonly clientId: string
  readonly issuer: string
  readonly algorithms: readonly ClientKeyAlgorithm[]
  /** `none` will not do, whatever the client's settings say. */
  readonly signed: boolean
  /** `none` will do where the client's settings say nothing. */
  readonly unsigned: boolean
  /** The moment at which it has to be valid. */
  readonly at: Date
}

/** RFC 9101 §4, and what objects from before it have. Everything else is a JWT for another purpose. */
const TYPES: readonly (string | undefined)[] = [undefined, 'jwt', 'oauth-authz-req+jwt']

/** What the object says, if the client has made it for us and it is valid now (RFC 9101 §6.2). */
export async function verifyRequestObject(
  text: string,
  rules: ObjectRules,
  context: ServerContext,
): Promise<RequestClaims> {
  try {
    return await verify(text, rules, context)
  } catch (cause) {
    if (cause instanceof InvalidRequestObject) throw cause
    if (cause instanceof NoClientKeys) {
      throw new InvalidRequestObject('This client has no keys to sign requests with', { cause })
    }
    // Our own words for the rest: it may be a key of the client's that cannot be read.
    const why = cause instanceof errors.JOSEError ? cause.message : 'it cannot be read'
    throw new InvalidRequestObject(`The request object is refused: ${why}`, { cause })
  }
}

async function verify(
  text: string,
  rules: ObjectRules,
  context: ServerContext,
): Promise<JWTPayload> {
  const { client, clientId, issuer, signed, unsigned, at } = rules
  const { alg, typ } = decodeProtectedHeader(text)
  if (!TYPES.includes(typ?.toLowerCase().replace(/^application\//, ''))) {
    throw new InvalidRequestObject('The request object has the typ of something else')
  }
  const times = { currentDate: at, clockTolerance: CLOCK_SKEW / 1000 }
  const wished = client.settings.request_object_signing_alg
  if (alg === 'none' && (wished ?? (unsigned ? 'none' : '')) === 'none' && !signed) {
    const { payload } = UnsecuredJWT.decode(text, times)
    assertMeant(payload, clientId, issuer)
    return payload
  }
  const algorithms = rules.algorithms.filter((name) => wished === undefined || name === wished)
  if (!algorithms.some((name) => name === alg)) {
    throw new InvalidRequestObject('The request object is not signed with what this client may use')
  }
  const meant = { issuer: clientId, audience: issuer }
  return verifyByClient(text, client, { algorithms, ...meant, ...times }, context)
}

/** Who signs nothing need not say either; whoever says so says the truth. */
function assertMeant({ iss, aud }: JWTPayload, clientId: string, issuer: string): void {
  if (iss !== undefined && iss !== clientId) throw new InvalidRequestObject('iss is not the client')
  if (aud !== undefined && ![aud].flat().includes(issuer)) {
    throw new InvalidRequestObject('aud is not this server')
  }
}
