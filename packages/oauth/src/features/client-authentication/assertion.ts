import { NotFetched } from '@tollgate/http/outgoing'
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import { NoClientKeys, verifyClientJwt } from '../../clients/client-keys.ts'
import { findPreviousSecret } from '../../clients/secret.ts'
import { CLOCK_SKEW_MS } from '../../clock.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidClient } from '../../errors.ts'
import type { Form } from '../../http/form.ts'
import { requestRates } from '../../limits/policies.ts'
import type { Client } from '../../storage/records.ts'
import { claimTicketOnce } from '../../storage/tickets.ts'
import type { ClientAuthenticationResult } from '../feature.ts'
import type { JwtAuthenticationSettings, JwtMethod } from './settings.ts'

const KIND = 'client assertion'
const MAX_ASSERTION_LENGTH = 16_000
/** Endpoints of every server at which clients authenticate. */
const OWN_PATHS = ['/token', '/revoke', '/introspect']
/** Accepted `typ` headers. Any other type is a JWT for another purpose. */
const TYPES: readonly (string | undefined)[] = [undefined, 'jwt', 'client-authentication+jwt']

/**
 * Verifies a client assertion (RFC 7523 §3) and returns the client. Each assertion is accepted
 * once.
 * @throws InvalidClient
 */
export async function verifyAssertion(
  text: string,
  params: Form,
  settings: JwtAuthenticationSettings,
  context: ServerContext,
): Promise<ClientAuthenticationResult> {
  const clientId = readUnverifiedClientId(text, params)
  const client = await context.clients.findNamed(clientId, context)
  const method = client && findJwtMethod(client, settings)
  if (!client || !method) throw new InvalidClient('Client authentication failed')
  const claims = await verify(text, { client, clientId, method, settings }, context).catch(
    (cause) => {
      throw toInvalidClient(cause)
    },
  )
  assertAudienceIsServer(claims, settings, context)
  await assertNotReplayed(claims, client, settings, context)
  return { client, method }
}

/** Reads the client id from the unverified assertion, only to find the client's keys. */
function readUnverifiedClientId(text: string, params: Form): string {
  if (text.length > MAX_ASSERTION_LENGTH)
    throw new InvalidClient('The client_assertion is too long')
  const { iss, sub } = decode(text)
  if (typeof sub !== 'string' || iss !== sub) {
    throw new InvalidClient('iss and sub of the client_assertion must be the client_id')
  }
  const named = params.get('client_id')
  if (named !== undefined && named !== sub) {
    throw new InvalidClient('The client_assertion belongs to a different client than client_id')
  }
  return sub
}

function decode(text: string): JWTPayload {
  try {
    return decodeJwt(text)
  } catch (cause) {
    throw new InvalidClient('The client_assertion is not a JWT', { cause })
  }
}

/**
 * Returns the JWT method that the client is registered for. `null` for a client that uses its
 * secret.
 */
function findJwtMethod(
  { settings }: Client,
  { methods }: JwtAuthenticationSettings,
): JwtMethod | null {
  return methods.find((name) => name === settings.token_endpoint_auth_method) ?? null
}

interface AssertionProof {
  readonly client: Client
  readonly clientId: string
  readonly method: JwtMethod
  readonly settings: JwtAuthenticationSettings
}

async function verify(
  text: string,
  proof: AssertionProof,
  context: ServerContext,
): Promise<JWTPayload> {
  const { client, clientId, method, settings } = proof
  const { typ } = decodeProtectedHeader(text)
  if (!TYPES.includes(typ?.toLowerCase().replace(/^application\//, ''))) {
    throw new InvalidClient('The client_assertion has the wrong typ')
  }
  const registeredAlgorithm = client.settings.token_endpoint_auth_signing_alg
  // The method determines the kind of algorithm, so that a public key can never be used as a shared
  // secret.
  const algorithms = settings.algorithmsOf[method].filter(
    (name) => registeredAlgorithm === undefined || name === registeredAlgorithm,
  )
  const options = {
    algorithms,
    issuer: clientId,
    subject: clientId,
    requiredClaims: ['aud', 'exp', 'jti'],
    currentDate: context.clock.now(),
    clockTolerance: CLOCK_SKEW_MS / 1000,
  }
  if (method === 'private_key_jwt') return verifyClientJwt(text, client, options, context)
  return verifyBySecret(text, client, options, context)
}

/** Verifies with the current secret, and with the previous one until it ends. */
async function verifyBySecret(
  text: string,
  client: Client,
  options: JWTVerifyOptions,
  context: ServerContext,
): Promise<JWTPayload> {
  const sealed = [client.settings.sealed_secret, findPreviousSecret(client, context.clock)?.sealed]
  let failure: unknown = new NoClientKeys('This client has no secret that can be decrypted')
  for (const each of sealed) {
    const secret = each === undefined ? null : await context.clientSecrets.open(each)
    if (secret === null) continue
    try {
      return (await jwtVerify(text, new TextEncoder().encode(secret), options)).payload
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
      failure = error
    }
  }
  throw failure
}

/**
 * Requires that every audience is this server: an assertion that is valid elsewhere too may have
 * been made for that other server.
 */
function assertAudienceIsServer(
  { aud }: JWTPayload,
  { audience }: JwtAuthenticationSettings,
  context: ServerContext,
): void {
  if (audience === 'issuer') {
    if (aud === context.issuer) return
    throw new InvalidClient('aud of the client_assertion must be the issuer, as a string')
  }
  const ours = listAcceptedAudiences(context)
  const audiences: readonly unknown[] = [aud].flat()
  if (audiences.length === 0 || !audiences.every((name) => ours.includes(name))) {
    throw new InvalidClient(
      'aud of the client_assertion must name only the issuer or its endpoints',
    )
  }
}

/**
 * Returns the accepted audiences: the issuer, and the URL of each endpoint at which clients
 * authenticate (RFC 7523 §3, RFC 9126 §2). They are compared character by character.
 */
function listAcceptedAudiences({
  issuer,
  options,
  grants,
  features,
}: ServerContext): readonly unknown[] {
  const brought = [...grants.values(), ...features.all].flatMap(({ routes = [] }) => routes)
  const posted = brought.filter(({ method }) => method === 'POST').map(({ path }) => path)
  const below = `${options.issuerUrl.origin}${options.basePath}`
  return [issuer, ...[...OWN_PATHS, ...posted].map((path) => `${below}${path}`)]
}

/** Accepts each assertion only once, across all processes (RFC 7523 §3 point 7). */
async function assertNotReplayed(
  { exp, jti, iat }: JWTPayload,
  client: Client,
  { maxLifetime }: JwtAuthenticationSettings,
  { clock, storage, resources }: ServerContext,
): Promise<void> {
  const now = clock.now().getTime()
  const end = (exp ?? 0) * 1000
  if (end > now + maxLifetime * 1000 + CLOCK_SKEW_MS) {
    throw new InvalidClient(`A client_assertion may be valid for at most ${maxLifetime} seconds`)
  }
  if (iat !== undefined && iat * 1000 > now + CLOCK_SKEW_MS) {
    throw new InvalidClient('iat of the client_assertion is in the future')
  }
  if (typeof jti !== 'string' || jti === '') {
    throw new InvalidClient('jti of the client_assertion must be a non-empty string')
  }
  // The signature is verified by now, so only the client itself can use up this limit.
  if (client.settings.self_registered) await resources.count(requestRates.assertions, client.id)
  const first = await claimTicketOnce(storage.tickets, {
    kind: KIND,
    name: `${client.id}\n${jti}`,
    expiresAt: new Date(end + CLOCK_SKEW_MS),
  })
  if (!first) throw new InvalidClient('This client_assertion was used before')
}

/**
 * Describes the failure in general words. Callers must not learn details about the client's keys or
 * its server.
 */
function toInvalidClient(cause: unknown): InvalidClient {
  if (cause instanceof InvalidClient) return cause
  if (cause instanceof NotFetched) {
    return new InvalidClient('The keys of the client cannot be fetched', { cause })
  }
  if (cause instanceof NoClientKeys) return new InvalidClient(cause.message, { cause })
  const why = cause instanceof errors.JOSEError ? cause.message : 'it cannot be read'
  return new InvalidClient(`The client_assertion is refused: ${why}`, { cause })
}
