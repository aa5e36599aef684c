import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import { createRecentCache } from '../caches/recent-cache.ts'
import { CLOCK_SKEW, type Clock } from '../clock.ts'
import { InvalidToken, type TokenScheme } from '../errors.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import type { RevocationFeed } from '../revocations/feed.ts'
import { parseScope } from '../scopes.ts'
import type { ParentToken } from '../storage/details.ts'
import {
  type AccessTokenClaims,
  isBound,
  parseSubject,
  type Subject,
  tokenIdOf,
} from '../tokens/formats/claims.ts'
import type { AccessTokens } from '../tokens/formats/format.ts'
import type { KnownUser, KnownUsers } from '../users/known-users.ts'
import { type PresentedToken, parsePresented } from './bearer.ts'

/** A genuine access token and what it says. */
export interface VerifiedToken {
  /** The id of its row; all tokens of one grant share it. */
  readonly tokenId: string
  /** Who was given it. */
  readonly clientId: string
  /** For whom: a user, or the client itself. */
  readonly subject: Subject
  /** What it may do. */
  readonly scopes: readonly string[]
  /** All that it says. */
  readonly claims: AccessTokenClaims
}

export interface TokenVerifier {
  /**
   * Genuine, alive, not revoked and presented by the scheme it is for, or InvalidToken. Without a promise for
   * a header seen before. Whether the caller holds the key of a bound token is not asked here.
   */
  verifyHeader(header: string): Awaitable<VerifiedToken>
  /** The same for a token that was not presented: somebody asks about it. */
  verify(text: string): Promise<VerifiedToken>
  /** Genuine, though perhaps expired or revoked; null otherwise. */
  identify(text: string): Promise<VerifiedToken | null>
}

export interface VerifierOptions {
  readonly accessTokens: Pick<AccessTokens, 'decode'>
  readonly keys: Pick<SigningKeys, 'removals'>
  readonly feed: RevocationFeed
  readonly knownUsers: KnownUsers
  readonly issuer: string
  /** Of every API that tokens are for; which one is the guard's to ask. */
  readonly audiences: ReadonlySet<string>
  readonly clock: Clock
}

/** Node refuses headers over 16 kB; ours have a few hundred bytes. */
const LONGEST_TOKEN = 8 * 1024
const SKEW_SECONDS = CLOCK_SKEW / 1000
const REMEMBERED_TOKENS = 20_000

interface Known {
  readonly token: VerifiedToken
  /** Null for a client that acts for itself. */
  readonly user: KnownUser | null
}

export function createTokenVerifier(options: VerifierOptions): TokenVerifier {
  const { accessTokens, keys, feed, knownUsers, clock } = options
  /**
   * By the whole header: to cut the token out costs more than all the rest of a guarded request. A bound token
   * is never there under `Bearer`, nor another under `DPoP`.
   */
  let genuine = createRecentCache<Known>(REMEMBERED_TOKENS)
  let breaks = 0
  feed.onBreak(() => {
    breaks += 1
  })
  /** Grows when what was found genuine may be so no more: a key was taken back, or rows were lost. */
  const upsets = () => keys.removals() + breaks
  let upsetsBefore = upsets()

  /** Starts anew after an upset. */
  function recall(header: string): Known | undefined {
    if (upsetsBefore !== upsets()) {
      upsetsBefore = upsets()
      genuine = createRecentCache(REMEMBERED_TOKENS)
    }
    return genuine.get(header)
  }

  function recallText(text: string): VerifiedToken | undefined {
    return (recall(`Bearer ${text}`) ?? recall(`DPoP ${text}`))?.token
  }

  function userOf({ subject }: VerifiedToken): KnownUser | null {
    return subject.kind === 'user' ? knownUsers.of(subject.id) : null
  }

  function isForUs({ aud }: AccessTokenClaims): boolean {
    const { audiences } = options
    return typeof aud === 'string' ? audiences.has(aud) : aud.some((each) => audiences.has(each))
  }

  function decode(text: string): Awaitable<VerifiedToken | null> {
    if (text.length > LONGEST_TOKEN) return null
    return mapAwaitable(accessTokens.decode(text), understand)
  }

  function understand(claims: AccessTokenClaims | null): VerifiedToken | null {
    if (claims?.iss !== options.issuer || !isForUs(claims)) return null
    const subject = parseSubject(claims.sub)
    if (!subject) return null
    const tokenId = tokenIdOf(claims.jti)
    return {
      tokenId,
      clientId: claims.client_id,
      subject,
      scopes: parseScope(claims.scope),
      claims,
    }
  }

  /** What an exchanged token comes from. Its own life is not longer than theirs, so the feed still knows. */
  function hasEnded({ jti, client_id }: ParentToken): boolean {
    return (
      feed.isRevoked('token', tokenIdOf(jti)) ||
      feed.isRevoked('token', jti) ||
      feed.isRevoked('client', client_id)
    )
  }

  function requireAlive(token: VerifiedToken | null): VerifiedToken {
    const now = clock.now().getTime() / 1000
    if (!token) throw refused()
    if (token.claims.exp <= now || token.claims.iat > now + SKEW_SECONDS) throw refused(token)
    if (token.claims.exp * 1000 <= feed.endedBefore()) throw refused(token)
    if (feed.isRevoked('token', token.tokenId) || feed.isRevoked('client', token.clientId)) {
      throw refused(token)
    }
    if (token.claims.parents?.some(hasEnded)) throw refused()
    // One that was replaced, where a refresh ends those before it.
    if (feed.isRevoked('token', token.claims.jti)) throw refused(token)
    return token
  }

  /** For a header never seen, and for whatever has to be asked about a known one. */
  async function lookCloser(
    header: string | null,
    presented: PresentedToken | string,
    known?: VerifiedToken,
  ): Promise<VerifiedToken> {
    const cache = genuine
    const before = upsets()
    const text = typeof presented === 'string' ? presented : presented.text
    const token = known ?? (await decode(text))
    if (token && typeof presented !== 'string') assertScheme(token, presented)
    if (token) cache.set(header ?? headerOf(token, text), { token, user: userOf(token) })
    if (!feed.isFresh()) await feed.sync()
    if (upsets() !== before) return lookCloser(header, presented)
    const alive = requireAlive(token)
    const user = userOf(alive)
    // Last: only for a token that is good otherwise is the application asked.
    return !user || knownUsers.isCurrent(user) ? alive : requireUser(user, alive)
  }

  async function requireUser(user: KnownUser, token: VerifiedToken): Promise<VerifiedToken> {
    if (!(await knownUsers.exists(user))) throw refused(token)
    // A revocation may have come while the application was asked.
    if (!feed.isFresh()) await feed.sync()
    return requireAlive(token)
  }

  return {
    verifyHeader(header) {
      const known = recall(header)
      if (!known) return lookCloser(header, parsePresented(header))
      const { token, user } = known
      const isCurrent = feed.isFresh() && (user === null || knownUsers.isCurrent(user))
      return isCurrent ? requireAlive(token) : lookCloser(header, parsePresented(header), token)
    },
    verify(text) {
      return lookCloser(null, text, recallText(text))
    },
    async identify(text) {
      return recallText(text) ?? decode(text)
    },
  }
}

const schemeOf = ({ claims }: VerifiedToken): TokenScheme => (isBound(claims) ? 'DPoP' : 'Bearer')
const headerOf = (token: VerifiedToken, text: string) => `${schemeOf(token)} ${text}`

/** RFC 9449 §7.1: without the proof a bound token is worth nothing, and a proof binds nothing by itself. */
function assertScheme(token: VerifiedToken, { scheme }: PresentedToken): void {
  if (scheme !== schemeOf(token)) throw refused(token)
}

/** The same words whatever was wrong: which check failed helps only an attacker. */
function refused(token?: VerifiedToken): InvalidToken {
  const scheme = token ? schemeOf(token) : 'Bearer'
  return new InvalidToken('The access token is invalid, expired or revoked', { scheme })
}
