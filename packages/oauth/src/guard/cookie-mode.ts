import { EncryptJWT, jwtDecrypt } from 'jose'
import { createRecentCache } from '../caches/recent-cache.ts'
import { CLOCK_SKEW, type Clock } from '../clock.ts'
import { equalSecrets, hmac } from '../crypto.ts'
import { type CookieAttributes, readCookie, serializeCookie } from '../http/cookies.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { RevocationFeed } from '../revocations/feed.ts'
import type { KnownUsers } from '../users/known-users.ts'
import type { SignInMark } from '../users/retry-if-signed-out.ts'
import type { Person } from '../users/users.ts'

export const COOKIE_NAME = 'tollgate_token'

export interface CookieUser {
  readonly userId: string
  readonly sessionId: string | null
}

export interface CookieMode {
  /** Equal for all pages of a session, so that renewing the cookie breaks no open tab. */
  csrfToken(person: Person): string
  /** Whether the cookie that came is this person's and good for longer. */
  isGood(person: Person, cookieHeader: string | null): Promise<boolean>
  /** The `Set-Cookie` header, or null when the person was signed out everywhere since the mark. */
  issue(person: Person, mark: SignInMark): Promise<string | null>
  /** The `Set-Cookie` header that takes the cookie away. */
  clear(): string
  /** Null without a cookie, with a bad one, or without the CSRF token that belongs to it. */
  authenticate(
    cookieHeader: string | null | undefined,
    csrfToken: string | null | undefined,
  ): Promise<CookieUser | null>
}

export interface CookieModeOptions {
  readonly keyring: Keyring
  /** A cookie is good only where it was made, though another server may have the same secret. */
  readonly issuer: string
  readonly lifetimeSeconds: number
  readonly secure: boolean
  readonly clock: Clock
  readonly feed: RevocationFeed
  readonly knownUsers: KnownUsers
}

interface Content extends CookieUser {
  /** Null in a cookie of an older version. */
  readonly issuer: string | null
  readonly issuedAt: number
  /** By the clock of the store. Null in a cookie of an older version. */
  readonly storeAt: number | null
  readonly expiresAt: number
}

export function createCookieMode(options: CookieModeOptions): CookieMode {
  const { clock, feed, keyring, issuer, knownUsers } = options
  const attributes: CookieAttributes = { name: COOKIE_NAME, path: '/', secure: options.secure }
  const opened = createRecentCache<Content>(5000)

  /**
   * Cookies and CSRF tokens that name no issuer are of an older version. Those made before it was
   * replaced here live no longer than this.
   */
  const startedAt = performance.now()
  const takesOlder = () => performance.now() - startedAt < options.lifetimeSeconds * 1000

  /** The first is for new pages; a tab that was opened before the secret was changed has another. */
  function csrfTokens(person: Person): string[] {
    const keys = keyring.macKeys('csrf tokens')
    const who = `${person.id}\n${person.sessionId ?? ''}`
    const older = takesOlder() ? keys.map((key) => hmac(key, who)) : []
    return [...keys.map((key) => hmac(key, `${issuer}\n${who}`)), ...older]
  }

  const csrfToken = (person: Person) => csrfTokens(person)[0] ?? ''
  const accepts = (person: Person, given: string) =>
    csrfTokens(person).some((text) => equalSecrets(given, text))

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
      // For processes of an older version, which look here.
      csrf: csrfToken(person),
      // In milliseconds, beside the standard claim, so that a sign-in just after a revocation counts.
      at: now,
      // By the one clock that also says when sign-ins were ended.
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

  /** Expiry is checked here, each time and whatever else is asked (threat G6). */
  function isAlive(content: Content): boolean {
    const now = clock.now().getTime()
    if (content.issuer === null ? !takesOlder() : content.issuer !== issuer) return false
    if (content.expiresAt * 1000 <= now || content.issuedAt > now + CLOCK_SKEW) return false
    if (content.expiresAt * 1000 <= feed.endedBefore()) return false
    const { issuedAt: at, storeAt } = content
    if (feed.isSignedOut(content.userId, { at, storeAt })) return false
    return content.sessionId === null || !feed.isRevoked('session', content.sessionId)
  }

  async function read(cookieHeader: string | null | undefined): Promise<Content | null> {
    const value = readCookie(cookieHeader, COOKIE_NAME)
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
      const theirs =
        content?.userId === person.id &&
        content.sessionId === person.sessionId &&
        content.issuer === issuer
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
    // The clock of this server decides on expiry, not the library's.
    const { payload } = await jwtDecrypt(value, key, {
      contentEncryptionAlgorithms: ['A256GCM'],
      keyManagementAlgorithms: ['dir'],
      currentDate: new Date(0),
    })
    const { iss = null, sub, sid, at, db, exp } = payload
    if (typeof sub !== 'string') return null
    if (typeof at !== 'number' || typeof exp !== 'number') return null
    const sessionId = typeof sid === 'string' ? sid : null
    const storeAt = typeof db === 'number' ? db : null
    return { issuer: iss, userId: sub, sessionId, issuedAt: at, storeAt, expiresAt: exp }
  } catch {
    return null
  }
}
