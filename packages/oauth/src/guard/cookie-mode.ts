import { EncryptJWT, jwtDecrypt } from 'jose'
import { createRecentCache } from '../caches/recent-cache.ts'
import { CLOCK_SKEW_MS, type Clock } from '../clock.ts'
import { areSecretsEqual, computeHmac } from '../crypto.ts'
import { type CookieAttributes, readCookie, serializeCookie } from '../http/cookies.ts'
import type { DerivedKeyring } from '../keys/keyring.ts'
import type { RevocationFeed } from '../revocations/feed.ts'
import type { UserExistenceCache } from '../users/known-users.ts'
import type { SignInMark } from '../users/retry-if-signed-out.ts'
import type { Person } from '../users/signed-in.ts'

export const TOKEN_COOKIE_NAME = 'tollgate_token'

export interface CookieUser {
  readonly userId: string
  readonly sessionId: string | null
}

export interface CookieMode {
  /**
   * Returns the CSRF token of a session for cookie mode. It stays the same when the cookie is
   * renewed, so that open tabs keep working.
   */
  csrfToken(person: Person): string
  /**
   * Whether the cookie of cookie mode need not be renewed: it belongs to this user and session, and
   * has more than half of its lifetime left.
   */
  isGood(person: Person, cookieHeader: string | null): Promise<boolean>
  /**
   * Creates a cookie for cookie mode and returns its `Set-Cookie` header. `null` if the user was
   * signed out everywhere since `mark` was taken.
   */
  issue(person: Person, mark: SignInMark): Promise<string | null>
  /** Returns the `Set-Cookie` header that deletes the cookie of cookie mode. */
  clear(): string
  /**
   * Authenticates a request by cookie and CSRF token. `null` if the cookie is missing or invalid,
   * or the CSRF token does not belong to it.
   */
  authenticate(
    cookieHeader: string | null | undefined,
    csrfToken: string | null | undefined,
  ): Promise<CookieUser | null>
}

export interface CookieModeOptions {
  readonly keyring: DerivedKeyring
  /**
   * Issuer of the cookies. Cookies of other issuers are rejected, even those made with the same
   * secret.
   */
  readonly issuer: string
  readonly lifetimeSeconds: number
  readonly secure: boolean
  readonly clock: Clock
  readonly feed: RevocationFeed
  readonly knownUsers: UserExistenceCache
}

interface Content extends CookieUser {
  readonly issuer: string
  readonly issuedAt: number
  /** When the cookie was created, by the clock of the store, in milliseconds. */
  readonly storeAt: number
  readonly expiresAt: number
}

export function createCookieMode(options: CookieModeOptions): CookieMode {
  const { clock, feed, keyring, issuer, knownUsers } = options
  const attributes: CookieAttributes = {
    name: TOKEN_COOKIE_NAME,
    path: '/',
    secure: options.secure,
  }
  const opened = createRecentCache<Content>(5000)

  /**
   * Returns all valid CSRF tokens of a session. The first is for new pages; the others, made with
   * older secrets, keep open tabs working.
   */
  function csrfTokens(person: Person): string[] {
    const keys = keyring.macKeys('csrf tokens')
    const session = `${person.id}\n${person.sessionId ?? ''}`
    return keys.map((key) => computeHmac(key, `${issuer}\n${session}`))
  }

  const csrfToken = (person: Person) => csrfTokens(person)[0] ?? ''
  const accepts = (person: Person, given: string) =>
    csrfTokens(person).some((text) => areSecretsEqual(given, text))

  async function issue(person: Person, mark: SignInMark): Promise<string | null> {
    const [key] = keyring.encryptionKeys('cookie mode')
    if (!key) throw new Error('There is no secret to encrypt cookies with')
    await clock.check?.()
    if (await feed.signedOutSince(person.id, mark.signOutMark)) return null
    const now = mark.at.getTime()
    const value = await new EncryptJWT({
      iss: issuer,
      sub: person.id,
      ...(person.sessionId === null ? {} : { sid: person.sessionId }),
      // In milliseconds, unlike `iat`, so that a sign-in in the same second after a sign-out
      // counts.
      at: now,
      // By the clock of the store, which also dates the sign-outs.
      db: feed.afterSignOuts(person.id, mark.storeAt),
      exp: Math.floor(now / 1000) + options.lifetimeSeconds,
    })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .encrypt(key)
    return serializeCookie(attributes, value, options.lifetimeSeconds)
  }

  async function open(value: string): Promise<Content | null> {
    const known = opened.get(value)
    if (known) return known
    for (const key of keyring.encryptionKeys('cookie mode')) {
      const content = await decrypt(value, key)
      if (!content) continue
      opened.set(value, content)
      return content
    }
    return null
  }

  /**
   * Whether the cookie is still valid. Checks the expiry on every request, even for cached cookies
   * (threat G6).
   */
  function isAlive(content: Content): boolean {
    const now = clock.now().getTime()
    if (content.issuer !== issuer) return false
    if (content.expiresAt * 1000 <= now || content.issuedAt > now + CLOCK_SKEW_MS) return false
    if (content.expiresAt * 1000 <= feed.endedBefore()) return false
    const { issuedAt: at, storeAt } = content
    if (feed.isSignedOut(content.userId, { at, storeAt })) return false
    return content.sessionId === null || !feed.isRevoked('session', content.sessionId)
  }

  async function read(cookieHeader: string | null | undefined): Promise<Content | null> {
    const value = readCookie(cookieHeader, TOKEN_COOKIE_NAME)
    if (value === null || value.length > 4096) return null
    const content = await open(value)
    if (!feed.isFresh()) await feed.sync()
    return content && isAlive(content) ? content : null
  }

  return {
    csrfToken,
    issue,
    async isGood(person, cookieHeader) {
      const content = await read(cookieHeader)
      const theirs = content?.userId === person.id && content.sessionId === person.sessionId
      const halfLife = (options.lifetimeSeconds * 1000) / 2
      return theirs && clock.now().getTime() - content.issuedAt < halfLife
    },
    clear: () => serializeCookie(attributes, '', 0),
    async authenticate(cookieHeader, given) {
      if (!cookieHeader || !given) return null
      const content = await read(cookieHeader)
      if (!content) return null
      const { userId, sessionId } = content
      if (!accepts({ id: userId, sessionId }, given)) return null
      return (await knownUsers.exists(knownUsers.of(userId))) ? { userId, sessionId } : null
    },
  }
}

async function decrypt(value: string, key: Uint8Array): Promise<Content | null> {
  try {
    // Disables the library's expiry check: `isAlive()` checks the expiry by the clock of this
    // server.
    const { payload } = await jwtDecrypt(value, key, {
      contentEncryptionAlgorithms: ['A256GCM'],
      keyManagementAlgorithms: ['dir'],
      currentDate: new Date(0),
    })
    const { iss, sub, sid, at, db, exp } = payload
    if (typeof iss !== 'string' || typeof sub !== 'string') return null
    if (typeof at !== 'number' || typeof db !== 'number' || typeof exp !== 'number') return null
    const sessionId = typeof sid === 'string' ? sid : null
    return { issuer: iss, userId: sub, sessionId, issuedAt: at, storeAt: db, expiresAt: exp }
  } catch {
    return null
  }
}
