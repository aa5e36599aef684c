import { andThen, type Maybe } from '../awaitable.ts'
import { createRecentCache } from '../caches/recent-cache.ts'
import { CLOCK_SKEW, type Clock, millisecondsOf } from '../clock.ts'
import { InvalidToken } from '../errors.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import type { RevocationFeed } from '../revocations/feed.ts'
import { parseScope } from '../scopes.ts'
import {
  type AccessTokenClaims,
  parseSubject,
  type Subject,
  tokenIdOf,
} from '../tokens/formats/claims.ts'
import type { AccessTokenFormat } from '../tokens/formats/format.ts'
import type { KnownUser, KnownUsers } from '../users/known-users.ts'

export interface VerifiedToken {
  readonly tokenId: string
  readonly clientId: string
  readonly subject: Subject
  readonly scopes: readonly string[]
  readonly claims: AccessTokenClaims
}

export interface TokenVerifier {
  /** Genuine, alive and not revoked, or InvalidToken. */
  verify(text: string): Maybe<VerifiedToken>
  /** The same at once for an Authorization header seen before; undefined when verify() has to look closer. */
  recognize(header: string): VerifiedToken | undefined
  /** Genuine, though perhaps expired or revoked; null otherwise. */
  identify(text: string): Promise<VerifiedToken | null>
}

export interface VerifierOptions {
  readonly format: AccessTokenFormat
  readonly keys: Pick<SigningKeys, 'removals'>
  readonly feed: RevocationFeed
  readonly knownUsers: KnownUsers
  readonly issuer: string
  readonly audience: string
  readonly clock: Clock
}

type Decoding = Maybe<VerifiedToken | null>

/** Node refuses headers over 16 kB; ours have a few hundred bytes. */
const LONGEST_TOKEN = 8 * 1024
const SKEW_SECONDS = CLOCK_SKEW / 1000
const REMEMBERED_TOKENS = 20_000
/** Enough of a signature to tell tokens apart. */
const TAIL = 8

/** With the whole header, because cutting the token out of it costs more than all the rest. */
interface Remembered {
  readonly header: string
  readonly token: VerifiedToken
  /** Null for a client that acts for itself. */
  readonly user: KnownUser | null
}

export function createTokenVerifier(options: VerifierOptions): TokenVerifier {
  const { format, keys, feed, knownUsers } = options
  const milliseconds = millisecondsOf(options.clock)
  let genuine = createRecentCache<Remembered, number>(REMEMBERED_TOKENS)
  let breaks = 0
  feed.onBreak(() => {
    breaks += 1
  })
  /** Grows when what was found genuine may be so no more: a key was taken back, or rows were lost. */
  const upsets = () => keys.removals() + breaks
  let upsetsBefore = upsets()

  /**
   * Found by its end and compared as a whole: altered content is another token. Starts anew after an
   * upset.
   */
  function recall(header: string): Remembered | undefined {
    if (upsetsBefore !== upsets()) {
      upsetsBefore = upsets()
      genuine = createRecentCache(REMEMBERED_TOKENS)
    }
    const found = genuine.get(endOf(header))
    return found?.header === header ? found : undefined
  }

  function remember(header: string, token: VerifiedToken, cache: typeof genuine): void {
    cache.set(endOf(header), { header, token, user: userOf(token) })
  }

  function userOf({ subject }: VerifiedToken): KnownUser | null {
    return subject.kind === 'user' ? knownUsers.of(subject.id) : null
  }

  function decode(text: string): Decoding {
    if (text.length > LONGEST_TOKEN) return null
    return andThen(format.decode(text), understand)
  }

  function understand(claims: AccessTokenClaims | null): VerifiedToken | null {
    if (claims?.iss !== options.issuer || claims.aud !== options.audience) return null
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

  function requireAlive(token: VerifiedToken | null): VerifiedToken {
    const now = milliseconds() / 1000
    if (!token || token.claims.exp <= now || token.claims.iat > now + SKEW_SECONDS) throw refused()
    if (token.claims.exp * 1000 <= feed.endedBefore()) throw refused()
    if (feed.isRevoked('token', token.tokenId) || feed.isRevoked('client', token.clientId)) {
      throw refused()
    }
    // One that was replaced, where a refresh ends those before it.
    if (feed.isRevoked('token', token.claims.jti)) throw refused()
    return token
  }

  async function verifySlowly(text: string, decoding: Decoding): Promise<VerifiedToken> {
    const cache = genuine
    const before = upsets()
    const token = await decoding
    if (token) remember(headerOf(text), token, cache)
    if (!feed.isFresh()) await feed.sync()
    if (upsets() !== before) return verifySlowly(text, decode(text))
    return requireUser(requireAlive(token))
  }

  /** Last: only for a token that is good otherwise is the application asked. */
  function requireUser(token: VerifiedToken): Maybe<VerifiedToken> {
    const user = userOf(token)
    if (!user || knownUsers.isCurrent(user)) return token
    return andThen(knownUsers.exists(user), (exists) => {
      if (!exists) throw refused()
      // A revocation may have come while the application was asked.
      return feed.isFresh() ? requireAlive(token) : feed.sync().then(() => requireAlive(token))
    })
  }

  return {
    verify(text) {
      const header = headerOf(text)
      const decoding = recall(header)?.token ?? decode(text)
      if (decoding instanceof Promise || !feed.isFresh()) return verifySlowly(text, decoding)
      if (decoding) remember(header, decoding, genuine)
      return requireUser(requireAlive(decoding))
    },
    recognize(header) {
      const known = recall(header)
      if (!known || !feed.isFresh()) return undefined
      if (known.user && !knownUsers.isCurrent(known.user)) return undefined
      return requireAlive(known.token)
    },
    async identify(text) {
      return recall(headerOf(text))?.token ?? decode(text)
    },
  }
}

const headerOf = (text: string) => `Bearer ${text}`

/** Hashed as FNV-1a does it: a Map finds a number sooner than a text nobody has hashed yet. */
function endOf(header: string): number {
  let end = 0
  for (let index = header.length - TAIL; index < header.length; index += 1) {
    end = Math.imul(end ^ header.charCodeAt(index), 16_777_619)
  }
  return end
}

/** The same words whatever was wrong: which check failed helps only an attacker. */
function refused(): InvalidToken {
  return new InvalidToken('The access token is invalid, expired or revoked')
}
