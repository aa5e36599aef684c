import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import { createRecentCache } from '../caches/recent-cache.ts'
import { CLOCK_SKEW_MS, type Clock } from '../clock.ts'
import { InvalidToken, type TokenScheme } from '../errors.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import type { RevocationFeed } from '../revocations/feed.ts'
import { parseScope } from '../scopes.ts'
import type { ParentToken } from '../storage/details.ts'
import {
  type AccessTokenClaims,
  isBoundToKey,
  parseSubject,
  parseTokenId,
  type Subject,
} from '../tokens/formats/claims.ts'
import type { AccessTokens } from '../tokens/formats/format.ts'
import type { CachedUser, UserExistenceCache } from '../users/known-users.ts'
import { type PresentedToken, parsePresentedToken } from './bearer.ts'

/** A verified access token and its content. */
export interface VerifiedToken {
  /** Id of the token's row, shared by all tokens of one grant. */
  readonly tokenId: string
  /** The client the token was issued to. */
  readonly clientId: string
  /** The user the token acts for, or the client itself. */
  readonly subject: Subject
  /** The scopes of the token. */
  readonly scopes: readonly string[]
  /** All claims of the token. */
  readonly claims: AccessTokenClaims
}

export interface TokenVerifier {
  /**
   * Verifies the access token in an Authorization header: it must be genuine, neither expired nor
   * revoked, and sent with the right scheme (Bearer or DPoP). Returns without a promise if
   * everything needed is in memory. Does not check whether the caller holds the key of a token
   * bound to a key.
   * @throws InvalidToken if a check fails
   */
  verifyHeader(header: string): Awaitable<VerifiedToken>
  /**
   * Verifies a token that is not presented by its holder, such as for introspection.
   * @throws InvalidToken if the token is expired, revoked or not genuine
   */
  verify(text: string): Promise<VerifiedToken>
  /**
   * Decodes an access token without checking whether it is expired or revoked. `null` if it is not
   * genuine.
   */
  identify(text: string): Promise<VerifiedToken | null>
}

export interface VerifierOptions {
  readonly accessTokens: Pick<AccessTokens, 'decode'>
  readonly keys: Pick<SigningKeys, 'removals'>
  readonly feed: RevocationFeed
  readonly knownUsers: UserExistenceCache
  readonly issuer: string
  /** The `aud` values of all APIs. Each guard checks its own. */
  readonly audiences: ReadonlySet<string>
  /**
   * Scopes that tokens of users never have, not even tokens issued before the scope became a
   * machine scope.
   */
  readonly machineScopes: ReadonlySet<string>
  readonly clock: Clock
}

/**
 * Maximum length of a token. Ours have a few hundred bytes, and Node.js rejects headers over 16 kB.
 */
const MAX_TOKEN_LENGTH = 8 * 1024
const SKEW_SECONDS = CLOCK_SKEW_MS / 1000
const TOKEN_CACHE_SIZE = 20_000
/** How many characters at the end of a header are enough to recognize it. */
const FINGERPRINTED = 16

interface Known {
  readonly token: VerifiedToken
  /** `null` for a client that acts for itself. */
  readonly user: CachedUser | null
}

export function createTokenVerifier(options: VerifierOptions): TokenVerifier {
  const { accessTokens, keys, feed, knownUsers, clock } = options
  /**
   * Decoded tokens by the whole header, because extracting the token would cost more than the rest
   * of a guarded request. The key includes the right scheme, so a token sent with the wrong scheme
   * is never found.
   */
  let decodedTokens = createRecentCache<Known>(TOKEN_CACHE_SIZE)
  /**
   * Fingerprints of headers that were verified once. A token is cached when it comes a second time:
   * keeping every token of a few thousand bytes in memory would cost more in garbage collection
   * than it costs to verify the tokens that never come again.
   */
  const verifiedOnce = createRecentCache<true, number>(TOKEN_CACHE_SIZE)
  let historyBreaks = 0
  feed.onBreak(() => {
    historyBreaks += 1
  })
  /**
   * Returns a number that increases when cached tokens may no longer be valid: a key was revoked,
   * or the store lost rows.
   */
  const invalidations = () => keys.removals() + historyBreaks
  let knownInvalidations = invalidations()

  /** Finds a decoded token. Empties the cache first if `invalidations()` has increased. */
  function recall(header: string): Known | undefined {
    if (knownInvalidations !== invalidations()) {
      knownInvalidations = invalidations()
      decodedTokens = createRecentCache(TOKEN_CACHE_SIZE)
    }
    return decodedTokens.get(header)
  }

  function recallText(text: string): VerifiedToken | undefined {
    return (recall(`Bearer ${text}`) ?? recall(`DPoP ${text}`))?.token
  }

  function remember(header: string, known: Known): void {
    const mark = fingerprintHeader(header)
    if (verifiedOnce.get(mark)) decodedTokens.set(header, known)
    else verifiedOnce.set(mark, true)
  }

  function userOf({ subject }: VerifiedToken): CachedUser | null {
    return subject.kind === 'user' ? knownUsers.of(subject.id) : null
  }

  function isForUs({ aud }: AccessTokenClaims): boolean {
    const { audiences } = options
    return typeof aud === 'string' ? audiences.has(aud) : aud.some((each) => audiences.has(each))
  }

  function decode(text: string): Awaitable<VerifiedToken | null> {
    if (text.length > MAX_TOKEN_LENGTH) return null
    return mapAwaitable(accessTokens.decode(text), readToken)
  }

  function readToken(claims: AccessTokenClaims | null): VerifiedToken | null {
    if (claims?.iss !== options.issuer || !isForUs(claims)) return null
    const subject = parseSubject(claims.sub)
    if (!subject) return null
    const tokenId = parseTokenId(claims.jti)
    return {
      tokenId,
      clientId: claims.client_id,
      subject,
      scopes: scopesOf(subject, claims.scope),
      claims,
    }
  }

  function scopesOf(subject: Subject, scope: string): readonly string[] {
    const scopes = parseScope(scope)
    const { machineScopes } = options
    if (machineScopes.size === 0 || subject.kind === 'client') return scopes
    return scopes.filter((name) => !machineScopes.has(name))
  }

  /**
   * Whether a parent token, from which the token was obtained by token exchange, was revoked. A
   * parent expires no earlier than the token itself, so the feed still contains its revocation.
   */
  function hasEnded({ jti, client_id }: ParentToken): boolean {
    return (
      feed.isRevoked('token', parseTokenId(jti)) ||
      feed.isRevoked('token', jti) ||
      feed.isRevoked('client', client_id)
    )
  }

  function requireAlive(token: VerifiedToken | null): VerifiedToken {
    const now = clock.now().getTime() / 1000
    if (!token) throw createRefusal()
    if (token.claims.exp <= now || token.claims.iat > now + SKEW_SECONDS) throw createRefusal(token)
    if (token.claims.exp * 1000 <= feed.endedBefore()) throw createRefusal(token)
    if (feed.isRevoked('token', token.tokenId) || feed.isRevoked('client', token.clientId)) {
      throw createRefusal(token)
    }
    if (token.claims.parents?.some(hasEnded)) throw createRefusal()
    // Access tokens replaced by a refresh, if the option `endsOldAccessToken` is set.
    if (feed.isRevoked('token', token.claims.jti)) throw createRefusal(token)
    return token
  }

  /**
   * Verifies a header that is not cached. Synchronous if the token can be decoded without a read
   * and the application has just confirmed its user.
   */
  function verifyNew(header: string): Awaitable<VerifiedToken> {
    const presented = parsePresentedToken(header)
    if (!feed.isFresh()) return verifyInFull(header, presented)
    const token = decode(presented.text)
    if (token instanceof Promise) return verifyInFull(header, presented, token)
    if (!token) throw createRefusal()
    assertScheme(token, presented)
    const user = userOf(token)
    remember(header, { token, user })
    requireAlive(token)
    return user === null || knownUsers.isCurrent(user) ? token : requireUser(user, token)
  }

  /**
   * Verifies a token that cannot be decoded without a read, or a cached token if up-to-date
   * information is needed from the store or the application.
   */
  async function verifyInFull(
    header: string | null,
    presented: PresentedToken | string,
    decoded?: Awaitable<VerifiedToken | null>,
  ): Promise<VerifiedToken> {
    const cache = decodedTokens
    const before = invalidations()
    const text = typeof presented === 'string' ? presented : presented.text
    const token = await (decoded ?? decode(text))
    if (token && typeof presented !== 'string') assertScheme(token, presented)
    // Cached at once, because another read may cost more than a signature.
    if (token) cache.set(header ?? headerOf(token, text), { token, user: userOf(token) })
    if (!feed.isFresh()) await feed.sync()
    if (invalidations() !== before) return verifyInFull(header, presented)
    const alive = requireAlive(token)
    const user = userOf(alive)
    // Asks the application last, so that it is only asked about otherwise valid tokens.
    return !user || knownUsers.isCurrent(user) ? alive : requireUser(user, alive)
  }

  async function requireUser(user: CachedUser, token: VerifiedToken): Promise<VerifiedToken> {
    if (!(await knownUsers.exists(user))) throw createRefusal(token)
    // The token may have been revoked while the application was asked.
    if (!feed.isFresh()) await feed.sync()
    return requireAlive(token)
  }

  return {
    verifyHeader(header) {
      const known = recall(header)
      if (!known) return verifyNew(header)
      const { token, user } = known
      const isCurrent = feed.isFresh() && (user === null || knownUsers.isCurrent(user))
      return isCurrent
        ? requireAlive(token)
        : verifyInFull(header, parsePresentedToken(header), token)
    },
    verify(text) {
      return verifyInFull(null, text, recallText(text))
    },
    async identify(text) {
      return recallText(text) ?? decode(text)
    },
  }
}

const schemeOf = ({ claims }: VerifiedToken): TokenScheme =>
  isBoundToKey(claims) ? 'DPoP' : 'Bearer'
const headerOf = (token: VerifiedToken, text: string) => `${schemeOf(token)} ${text}`

/** Returns a number from the end of a header, where the signature makes every token different. */
function fingerprintHeader(header: string): number {
  let mark = 0
  for (let at = Math.max(0, header.length - FINGERPRINTED); at < header.length; at += 1) {
    mark = (Math.imul(mark, 31) + header.charCodeAt(at)) | 0
  }
  return mark
}

/**
 * Requires the DPoP scheme for bound tokens and the Bearer scheme for all others (RFC 9449 §7.1).
 */
function assertScheme(token: VerifiedToken, { scheme }: PresentedToken): void {
  if (scheme !== schemeOf(token)) throw createRefusal(token)
}

/** Builds the same error for every failed check, because the reason would only help an attacker. */
function createRefusal(token?: VerifiedToken): InvalidToken {
  const scheme = token ? schemeOf(token) : 'Bearer'
  return new InvalidToken('The access token is invalid, expired or revoked', { scheme })
}
