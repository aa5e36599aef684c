import type { Clock } from '../clock.ts'
import { InvalidToken } from '../errors.ts'
import type { RevocationFeed } from '../revocations/feed.ts'
import { parseScope } from '../scopes.ts'
import { type AccessTokenClaims, parseSubject, type Subject, tokenIdOf } from './claims.ts'
import type { AccessTokenFormat } from './format.ts'
import { createRecentCache } from './recent-cache.ts'

export interface VerifiedToken {
  readonly tokenId: string
  readonly clientId: string
  readonly subject: Subject
  readonly scopes: readonly string[]
  readonly claims: AccessTokenClaims
}

export interface TokenVerifier {
  /** Genuine, alive and not revoked, or InvalidToken. Answers at once for a token seen before. */
  verify(text: string): VerifiedToken | Promise<VerifiedToken>
  /** Genuine, though perhaps expired or revoked; null otherwise. */
  identify(text: string): Promise<VerifiedToken | null>
}

export interface VerifierOptions {
  readonly format: AccessTokenFormat
  readonly feed: RevocationFeed
  readonly issuer: string
  readonly audience: string
  readonly clock: Clock
}

/** Node refuses headers over 16 kB; ours have a few hundred bytes. */
const LONGEST_TOKEN = 8 * 1024
/** How far the clocks of two of our processes may be apart. */
const SKEW_SECONDS = 60
const REMEMBERED_TOKENS = 20_000

export function createTokenVerifier(options: VerifierOptions): TokenVerifier {
  const { format, feed, clock } = options
  // Keyed by the full text: altered content is another key.
  const genuine = createRecentCache<VerifiedToken>(REMEMBERED_TOKENS)

  function decode(text: string): VerifiedToken | null | Promise<VerifiedToken | null> {
    if (text.length > LONGEST_TOKEN) return null
    const claims = format.decode(text)
    return claims instanceof Promise ? claims.then(understand) : understand(claims)
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
    const now = clock.now().getTime() / 1000
    if (!token || token.claims.exp <= now || token.claims.iat > now + SKEW_SECONDS) throw refused()
    if (feed.isRevoked('token', token.tokenId) || feed.isRevoked('client', token.clientId)) {
      throw refused()
    }
    return token
  }

  async function verifySlowly(text: string): Promise<VerifiedToken> {
    const token = genuine.get(text) ?? (await decode(text))
    if (token) genuine.set(text, token)
    if (!feed.isFresh()) await feed.sync()
    return requireAlive(token)
  }

  return {
    verify(text) {
      const known = genuine.get(text)
      if (known && feed.isFresh()) return requireAlive(known)
      const fresh = known ? null : decode(text)
      if (fresh instanceof Promise || !feed.isFresh()) return verifySlowly(text)
      if (fresh) genuine.set(text, fresh)
      return requireAlive(fresh)
    },
    async identify(text) {
      return genuine.get(text) ?? decode(text)
    },
  }
}

/** The same words whatever was wrong: which check failed helps only an attacker. */
function refused(): InvalidToken {
  return new InvalidToken('The access token is invalid, expired or revoked')
}
