import { NotFetched } from '@tollgate/http/outgoing'
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload } from 'jose'
import { getPublicClientId } from '../../clients/client.ts'
import { verifyJwtWithKeys } from '../../clients/client-keys.ts'
import { CLOCK_SKEW_MS } from '../../clock.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidGrant, type OAuthError, TemporarilyUnavailable } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'
import { claimTicketOnce } from '../../storage/tickets.ts'
import {
  type AssertedIdentity,
  type IssuerSettings,
  normalizeTyp,
  type TrustedIssuers,
} from './settings.ts'

const KIND = 'assertion of an issuer'
const MAX_ASSERTION_LENGTH = 16_000
const MAX_SUBJECT_LENGTH = 1000
/**
 * Claims of ID tokens, logout tokens and DPoP proofs. Without a `typ` header nothing else
 * distinguishes them.
 */
const CLAIMS_OF_OTHER_TOKENS = [
  'nonce',
  'at_hash',
  'c_hash',
  's_hash',
  'events',
  'htm',
  'htu',
  'ath',
]

/** Minimum time in milliseconds between two log entries about the keys of one issuer. */
const LOG_INTERVAL_MS = 60_000
const loggedAt = new WeakMap<IssuerSettings, number>()

/** An assertion whose signature, issuer, audience, type and times are valid. */
export interface VerifiedAssertion extends AssertedIdentity {
  readonly claims: JWTPayload
  readonly settings: IssuerSettings
}

/**
 * Verifies an assertion (RFC 7523 §3) for the client that presents it. Does not mark its `jti` as
 * used yet.
 */
export async function verifyAssertion(
  text: string,
  client: Client,
  issuers: TrustedIssuers,
  context: ServerContext,
): Promise<VerifiedAssertion> {
  const settings = text.length > MAX_ASSERTION_LENGTH ? undefined : issuers.get(readIssuer(text))
  if (!settings) throw createUntrustedError()
  const claims = await verifySignature(text, settings, context)
  assertKind(text, claims, settings)
  assertAudience(claims, settings, context)
  assertTimes(claims, settings, context)
  assertHolder(claims, client, settings, context)
  return { issuer: settings.name, subject: readSubject(claims), claims, settings }
}

/**
 * Rejects an assertion that was used before, in any process (RFC 7523 §3 point 7). Reusable
 * assertions are accepted again.
 */
export async function assertNotReplayed(
  { claims: { jti, exp = 0 }, settings }: VerifiedAssertion,
  { storage }: ServerContext,
): Promise<void> {
  if (settings.reusable) return
  // The issuer is part of the name, so that neither clients nor other issuers can use up this
  // `jti`.
  const name = `${settings.name}\n${jti}`
  const expiresAt = new Date(exp * 1000 + CLOCK_SKEW_MS)
  if (await claimTicketOnce(storage.tickets, { kind: KIND, name, expiresAt })) return
  throw new InvalidGrant('The assertion was used before')
}

/** Reads the issuer from the unverified assertion, only to find its keys. */
function readIssuer(text: string): string {
  try {
    return decodeJwt(text).iss ?? ''
  } catch (cause) {
    throw createUntrustedError(cause)
  }
}

async function verifySignature(
  text: string,
  settings: IssuerSettings,
  context: ServerContext,
): Promise<JWTPayload> {
  const { name, keys, algorithms, isIdJag } = settings
  try {
    const options = {
      algorithms,
      issuer: name,
      requiredClaims: ['exp', ...(isIdJag ? ['iat', 'client_id'] : [])],
      currentDate: context.clock.now(),
      clockTolerance: CLOCK_SKEW_MS / 1000,
    }
    return await verifyJwtWithKeys(text, keys, options, context)
  } catch (cause) {
    throw toAssertionError(cause, settings, context)
  }
}

/**
 * Turns a verification failure into an error. Claims are checked after the signature, so errors
 * name claims only for assertions that the issuer signed.
 */
function toAssertionError(
  cause: unknown,
  settings: IssuerSettings,
  context: ServerContext,
): OAuthError {
  if (cause instanceof NotFetched || cause instanceof errors.JWKSInvalid) {
    logProblem(settings, cause, context)
    return new TemporarilyUnavailable('The keys of the issuer cannot be fetched right now', {
      cause,
    })
  }
  if (cause instanceof errors.JWTExpired || cause instanceof errors.JWTClaimValidationFailed) {
    return createRefusedError(`its ${cause.claim} is missing, wrong or expired`, cause)
  }
  return createUntrustedError(cause)
}

function logProblem(
  settings: IssuerSettings,
  cause: unknown,
  { clock, logger }: ServerContext,
): void {
  const now = clock.now().getTime()
  if (now - (loggedAt.get(settings) ?? 0) < LOG_INTERVAL_MS) return
  loggedAt.set(settings, now)
  logger.error(`jwtBearer: the keys of ${settings.name} cannot be fetched`, cause)
}

/**
 * Creates the error for an unknown issuer and for a wrong signature. It is the same, so that
 * strangers do not learn which issuers are trusted.
 */
function createUntrustedError(cause?: unknown): InvalidGrant {
  return new InvalidGrant('The assertion is not signed by an issuer that this server trusts', {
    cause,
  })
}

function createRefusedError(why: string, cause?: unknown): InvalidGrant {
  return new InvalidGrant(`The assertion is refused: ${why}`, { cause })
}

function assertKind(text: string, claims: JWTPayload, { types }: IssuerSettings): void {
  const { typ } = decodeProtectedHeader(text)
  if (!types.includes(typ === undefined ? undefined : normalizeTyp(typ))) {
    throw createRefusedError('its typ is wrong')
  }
  if (CLAIMS_OF_OTHER_TOKENS.some((name) => name in claims))
    throw createRefusedError('it is a token of another kind')
}

/**
 * Requires exactly one audience: an assertion that is valid elsewhere too may have been sent there
 * first.
 */
function assertAudience(
  { aud }: JWTPayload,
  { audiences }: IssuerSettings,
  { issuer }: ServerContext,
): void {
  const [only, ...others]: readonly unknown[] = [aud].flat()
  const accepted: readonly unknown[] = audiences ?? [issuer]
  if (others.length > 0 || !accepted.includes(only)) {
    throw createRefusedError('its aud must be this server only')
  }
}

function assertTimes(
  { exp = 0, iat }: JWTPayload,
  { maxLifetime }: IssuerSettings,
  { clock }: ServerContext,
): void {
  const now = clock.now().getTime()
  if (iat !== undefined && iat * 1000 > now + CLOCK_SKEW_MS)
    throw createRefusedError('its iat is in the future')
  const latest = iat === undefined ? now + CLOCK_SKEW_MS : iat * 1000
  if (exp * 1000 > latest + maxLifetime * 1000) {
    throw createRefusedError(`it may be valid for at most ${maxLifetime} seconds`)
  }
}

/**
 * Requires the client and the key that `client_id` and `cnf` name. Any other client has stolen the
 * assertion.
 */
function assertHolder(
  { client_id, cnf, jti }: JWTPayload,
  client: Client,
  { reusable }: IssuerSettings,
  { provenKey }: ServerContext,
): void {
  if (client_id !== undefined && client_id !== getPublicClientId(client)) {
    throw createRefusedError('it is for another client')
  }
  if (cnf !== undefined && (provenKey === null || Object(cnf).jkt !== provenKey)) {
    throw createRefusedError(
      'it is bound to a key, and this request does not prove possession of that key',
    )
  }
  if (!reusable && (typeof jti !== 'string' || jti === ''))
    throw createRefusedError('its jti must be a non-empty string')
}

function readSubject({ sub }: JWTPayload): string {
  if (typeof sub === 'string' && sub !== '' && sub.length <= MAX_SUBJECT_LENGTH) return sub
  throw createRefusedError('its sub is missing, too long or not a string')
}
