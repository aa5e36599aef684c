import { decodeProtectedHeader, errors, type JWTPayload, UnsecuredJWT } from 'jose'
import { NoClientKeys, verifyClientJwt } from '../../clients/client-keys.ts'
import { CLOCK_SKEW_MS } from '../../clock.ts'
import type { ServerContext } from '../../context.ts'
import type { ClientKeyAlgorithm } from '../../crypto.ts'
import { InvalidRequestObject } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'

/**
 * The claims of a request object. Used instead of the type `JWTPayload` of jose, which cannot be
 * imported from CommonJS.
 */
export type RequestObjectClaims = Readonly<Record<string, unknown>>

export interface RequestObjectRules {
  readonly client: Client
  /** The `client_id` that the client sent, which the request object must contain. */
  readonly clientId: string
  readonly issuer: string
  readonly algorithms: readonly ClientKeyAlgorithm[]
  /**
   * Whether unsigned request objects (algorithm `none`) are rejected even if the client's settings
   * allow them.
   */
  readonly signed: boolean
  /**
   * Whether unsigned request objects (algorithm `none`) are accepted from clients without an
   * algorithm setting.
   */
  readonly unsigned: boolean
  /** The time at which the request object has to be valid. */
  readonly at: Date
}

/**
 * Accepted `typ` headers, including those from before RFC 9101 §4. Any other type is a JWT for
 * another purpose.
 */
const TYPES: readonly (string | undefined)[] = [undefined, 'jwt', 'oauth-authz-req+jwt']

/**
 * Verifies a request object and returns its claims (RFC 9101 §6.2).
 * @throws InvalidRequestObject unless the client made it for this server and it is currently valid
 */
export async function verifyRequestObject(
  text: string,
  rules: RequestObjectRules,
  context: ServerContext,
): Promise<RequestObjectClaims> {
  try {
    return await verify(text, rules, context)
  } catch (cause) {
    if (cause instanceof InvalidRequestObject) throw cause
    if (cause instanceof NoClientKeys) {
      throw new InvalidRequestObject('This client has no keys to sign requests with', { cause })
    }
    // Only library messages are passed on. Others may reveal details of an unreadable client key.
    const why = cause instanceof errors.JOSEError ? cause.message : 'it cannot be read'
    throw new InvalidRequestObject(`The request object is refused: ${why}`, { cause })
  }
}

async function verify(
  text: string,
  rules: RequestObjectRules,
  context: ServerContext,
): Promise<JWTPayload> {
  const { client, clientId, issuer, signed, unsigned, at } = rules
  const { alg, typ } = decodeProtectedHeader(text)
  if (!TYPES.includes(typ?.toLowerCase().replace(/^application\//, ''))) {
    throw new InvalidRequestObject('The request object has the wrong typ')
  }
  const times = { currentDate: at, clockTolerance: CLOCK_SKEW_MS / 1000 }
  const registeredAlgorithm = client.settings.request_object_signing_alg
  if (alg === 'none' && (registeredAlgorithm ?? (unsigned ? 'none' : '')) === 'none' && !signed) {
    const { payload } = UnsecuredJWT.decode(text, times)
    assertIssuerAndAudience(payload, clientId, issuer)
    return payload
  }
  const algorithms = rules.algorithms.filter(
    (name) => registeredAlgorithm === undefined || name === registeredAlgorithm,
  )
  if (!algorithms.some((name) => name === alg)) {
    throw new InvalidRequestObject(
      'The request object is not signed with an algorithm that this client may use',
    )
  }
  const meant = { issuer: clientId, audience: issuer }
  return verifyClientJwt(text, client, { algorithms, ...meant, ...times }, context)
}

/**
 * Checks `iss` and `aud` of an unsigned object. It need not contain them, but if it does they must
 * be correct.
 */
function assertIssuerAndAudience({ iss, aud }: JWTPayload, clientId: string, issuer: string): void {
  if (iss !== undefined && iss !== clientId)
    throw new InvalidRequestObject('iss of the request object must be the client_id')
  if (aud !== undefined && ![aud].flat().includes(issuer)) {
    throw new InvalidRequestObject('aud of the request object must contain the issuer')
  }
}
