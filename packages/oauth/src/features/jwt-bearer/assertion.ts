import { NotFetched } from '@tollgate/http/outgoing'
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload } from 'jose'
import { clientIdOf } from '../../clients/client.ts'
import { verifyByKeys } from '../../clients/client-keys.ts'
import { CLOCK_SKEW } from '../../clock.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidGrant, type OAuthError, TemporarilyUnavailable } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'
import { claimOnce } from '../../storage/ticket-hash.ts'
import {
  type AssertedIdentity,
  type IssuerSettings,
  plainType,
  type TrustedIssuers,
} from './settings.ts'

const KIND = 'assertion of an issuer'
const LONGEST = 16_000
const LONGEST_SUBJECT = 1000
/** ID tokens, logout tokens and DPoP proofs have these. Without a `typ` nothing else tells them apart. */
const OF_OTHER_TOKENS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events', 'htm', 'htu', 'ath']

/** How often a problem with the keys of one issuer is logged, however many requests meet it. In milliseconds. */
const LOGGED_EVERY = 60_000
const loggedAt = new WeakMap<IssuerSettings, number>()

/** An assertion whose signature, issuer, audience, type and times are right. */
export interface VerifiedAssertion extends AssertedIdentity {
  readonly claims: JWTPayload
  readonly settings: IssuerSettings
}

/** Verifies an assertion (RFC 7523 §3) for the client that presents it. Does not claim its `jti` yet. */
export async function verifyAssertion(
  text: string,
  client: Client,
  issuers: TrustedIssuers,
  context: ServerContext,
): Promise<VerifiedAssertion> {
  const settings = text.length > LONGEST ? undefined : issuers.get(readIssuer(text))
  if (!settings) throw untrusted()
  const claims = await verifySignature(text, settings, context)
  assertKind(text, claims, settings)
  assertAudience(claims, settings, context)
  assertTimes(claims, settings, context)
  assertHolder(claims, client, settings, context)
  return { issuer: settings.name, subject: readSubject(claims), claims, settings }
}

/** RFC 7523 §3 point 7: an assertion counts once, on whichever process it comes. */
export async function assertFirst(
  { claims: { jti, exp = 0 }, settings }: VerifiedAssertion,
  { storage }: ServerContext,
): Promise<void> {
  if (settings.reusable) return
  // The issuer is part of the name: neither clients nor other issuers can use this jti up.
  const name = `${settings.name}\n${jti}`
  const expiresAt = new Date(exp * 1000 + CLOCK_SKEW)
  if (await claimOnce(storage.tickets, { kind: KIND, name, expiresAt })) return
  throw new InvalidGrant('The assertion was used before')
}

/** Only to know whose keys are needed: nothing of the assertion is believed yet. */
function readIssuer(text: string): string {
  try {
    return decodeJwt(text).iss ?? ''
  } catch (cause) {
    throw untrusted(cause)
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
      clockTolerance: CLOCK_SKEW / 1000,
    }
    return await verifyByKeys(text, keys, options, context)
  } catch (cause) {
    throw refusal(cause, settings, context)
  }
}

/** Claims are looked at after the signature, so their names are told only for assertions that the issuer has signed. */
function refusal(cause: unknown, settings: IssuerSettings, context: ServerContext): OAuthError {
  if (cause instanceof NotFetched || cause instanceof errors.JWKSInvalid) {
    logProblem(settings, cause, context)
    return new TemporarilyUnavailable('The keys of the issuer cannot be fetched right now', {
      cause,
    })
  }
  if (cause instanceof errors.JWTExpired || cause instanceof errors.JWTClaimValidationFailed) {
    return refused(`its ${cause.claim} is missing, wrong or over`, cause)
  }
  return untrusted(cause)
}

function logProblem(
  settings: IssuerSettings,
  cause: unknown,
  { clock, logger }: ServerContext,
): void {
  const now = clock.now().getTime()
  if (now - (loggedAt.get(settings) ?? 0) < LOGGED_EVERY) return
  loggedAt.set(settings, now)
  logger.error(`jwtBearer: the keys of ${settings.name} cannot be fetched`, cause)
}

/** An unknown issuer and a wrong signature look the same: strangers do not learn whom this server trusts. */
function untrusted(cause?: unknown): InvalidGrant {
  return new InvalidGrant('The assertion is not signed by an issuer that this server trusts', {
    cause,
  })
}

function refused(why: string, cause?: unknown): InvalidGrant {
  return new InvalidGrant(`The assertion is refused: ${why}`, { cause })
}

function assertKind(text: string, claims: JWTPayload, { types }: IssuerSettings): void {
  const { typ } = decodeProtectedHeader(text)
  if (!types.includes(typ === undefined ? undefined : plainType(typ))) {
    throw refused('its typ is that of something else')
  }
  if (OF_OTHER_TOKENS.some((name) => name in claims)) throw refused('it is a token of another kind')
}

/** Exactly one: an assertion that is good elsewhere too may have been sent there first. */
function assertAudience(
  { aud }: JWTPayload,
  { audiences }: IssuerSettings,
  { issuer }: ServerContext,
): void {
  const [only, ...others]: readonly unknown[] = [aud].flat()
  const accepted: readonly unknown[] = audiences ?? [issuer]
  if (others.length > 0 || !accepted.includes(only)) {
    throw refused('its aud must be this server alone')
  }
}

function assertTimes(
  { exp = 0, iat }: JWTPayload,
  { longestLife }: IssuerSettings,
  { clock }: ServerContext,
): void {
  const now = clock.now().getTime()
  if (iat !== undefined && iat * 1000 > now + CLOCK_SKEW) throw refused('it comes from the future')
  const latest = iat === undefined ? now + CLOCK_SKEW : iat * 1000
  if (exp * 1000 > latest + longestLife * 1000) {
    throw refused(`it may live for ${longestLife} seconds at most`)
  }
}

/** `client_id` and `cnf` say who may use it: another client has stolen it. */
function assertHolder(
  { client_id, cnf, jti }: JWTPayload,
  client: Client,
  { reusable }: IssuerSettings,
  { provenKey }: ServerContext,
): void {
  if (client_id !== undefined && client_id !== clientIdOf(client)) {
    throw refused('it is for another client')
  }
  if (cnf !== undefined && (provenKey === null || Object(cnf).jkt !== provenKey)) {
    throw refused('it is bound to a key that this request does not prove to hold')
  }
  if (!reusable && (typeof jti !== 'string' || jti === '')) throw refused('its jti must be a text')
}

function readSubject({ sub }: JWTPayload): string {
  if (typeof sub === 'string' && sub !== '' && sub.length <= LONGEST_SUBJECT) return sub
  throw refused('its sub must be a text')
}
