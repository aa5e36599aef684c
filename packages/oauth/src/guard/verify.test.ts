import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { followRevocations, type RevocationFeed } from '../revocations/feed.ts'
import { memoryStorage } from '../storage/memory.ts'
import { endedMark, type NewRevocation, type RevocationKind } from '../storage/records.ts'
import type { RevocationRepository } from '../storage/repositories.ts'
import type { AccessTokenClaims } from '../tokens/formats/claims.ts'
import { createKnownUsers } from '../users/known-users.ts'
import { createTokenVerifier } from './verify.ts'

const issuer = 'https://api.example.com'
const NOW = new Date('2026-05-01T12:00:00Z')
const SECONDS = NOW.getTime() / 1000

interface Setting {
  readonly claims?: Partial<AccessTokenClaims>
  readonly revoked?: readonly NewRevocation[]
  /** How often a key was taken back. */
  readonly removals?: () => number
  readonly feed?: RevocationFeed
  readonly onDecode?: () => void
  readonly findById?: (id: string) => { readonly id: string } | null
}

const feedOf = (revocations: Pick<RevocationRepository, 'readFrom'>) =>
  followRevocations(revocations, { error: () => {} })

/** Takes `ada.<signature>` for a token of Ada's. */
function verifierOfNames(setting: Setting = {}) {
  const { claims = {}, revoked = [], removals = () => 0, feed, onDecode, findById } = setting
  const { revocations } = memoryStorage()
  for (const entry of revoked) revocations.append(entry)
  return createTokenVerifier({
    accessTokens: {
      decode: async (text) => {
        onDecode?.()
        const [name] = text.split('.')
        const life = { iat: SECONDS, exp: SECONDS + 60 }
        const shared = { iss: issuer, aud: issuer, client_id: 'shop', scope: '', ...life }
        return { ...shared, sub: `user:${name}`, jti: `${name}.0`, ...claims }
      },
    },
    keys: { removals },
    feed: feed ?? feedOf(revocations),
    knownUsers: createKnownUsers({
      users: { findById: findById ?? ((id) => (id === 'nobody' ? null : { id })) },
      logger: { error: () => {} },
    }),
    issuer,
    audiences: new Set([issuer, 'https://files.example.com']),
    clock: { now: () => NOW },
  })
}

it('tells tokens apart that end alike, however often they take turns', async () => {
  const verifier = verifierOfNames()
  for (const name of ['ada', 'bob', 'ada', 'ada', 'bob', 'bob']) {
    const text = `${name}.the-same-signature`
    const { subject } = await verifier.verify(text)
    expect(subject).toEqual({ kind: 'user', id: name })
    expect(verifier.verifyHeader(`Bearer ${text}`)).toMatchObject({ subject: { id: name } })
  }
  expect(verifier.verifyHeader('Bearer eve.the-same-signature')).toBeInstanceOf(Promise)
})

it('forgets what it has found genuine once for each key that is taken back', async () => {
  let removals = 0
  const verifier = verifierOfNames({ removals: () => removals })
  for (let i = 0; i < 3; i += 1) {
    await verifier.verify('ada.x')
    expect(verifier.verifyHeader('Bearer ada.x')).not.toBeInstanceOf(Promise)
    removals += 1
    expect(verifier.verifyHeader('Bearer ada.x')).toBeInstanceOf(Promise)
  }
})

it('forgets what it has found genuine when the store has lost part of its history', async () => {
  let mark = 'of the primary'
  const entry = { id: 1, kind: 'token', subject: 'bob', at: NOW, until: NOW } as const
  const feed = feedOf({
    readFrom: async () => ({ entries: [{ ...entry, mark, writtenAt: NOW }], now: NOW }),
  })
  const verifier = verifierOfNames({ feed })
  for (const other of ['of the standby', 'of a backup']) {
    await verifier.verify('ada.x')
    expect(verifier.verifyHeader('Bearer ada.x')).not.toBeInstanceOf(Promise)
    mark = other
    await feed.load()
    expect(verifier.verifyHeader('Bearer ada.x')).toBeInstanceOf(Promise)
  }
})

it('decodes a token again when a key was taken back meanwhile', async () => {
  let decoded = 0
  const setting = { removals: () => Math.min(decoded, 1), onDecode: () => void decoded++ }
  await verifierOfNames(setting).verify('ada.x')
  expect(decoded).toBe(2)
})

describe('a token that was accepted a second ago', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  const start = () => {
    const { revocations } = memoryStorage()
    const until = new Date(NOW.getTime() + 60_000)
    const revoke = (kind: RevocationKind, subject: string) =>
      revocations.append({ kind, subject, at: NOW, until })
    return { feed: feedOf(revocations), revoke }
  }
  const refuses = (verdict: () => unknown) =>
    expect((async () => verdict())()).rejects.toMatchObject({ code: 'invalid_token' })

  it('is refused once its client was revoked elsewhere', async () => {
    const { feed, revoke } = start()
    const verifier = verifierOfNames({ feed, claims: { sub: 'client:old', client_id: 'old' } })
    await verifier.verifyHeader('Bearer ada.x')
    await revoke('client', 'old')
    vi.advanceTimersByTime(1000)
    await refuses(() => verifier.verifyHeader('Bearer ada.x'))
  })

  it('is refused once its user is gone, also while the feed is fresh', async () => {
    const { feed } = start()
    let isThere = true
    const verifier = verifierOfNames({ feed, findById: (id) => (isThere ? { id } : null) })
    await verifier.verifyHeader('Bearer ada.x')
    isThere = false
    vi.advanceTimersByTime(1000)
    await feed.load()
    await refuses(() => verifier.verifyHeader('Bearer ada.x'))
  })

  it('is refused when it was revoked while the application was asked about its user', async () => {
    const { feed, revoke } = start()
    const verifier = verifierOfNames({
      feed,
      findById(id) {
        revoke('token', 'bob')
        vi.advanceTimersByTime(1000)
        return { id }
      },
    })
    await refuses(() => verifier.verifyHeader('Bearer bob.x'))
  })
})

it('names the scheme of a refused token in its challenge', async () => {
  const claims = { cnf: { jkt: 'thumbprint' }, exp: SECONDS }
  const error = await verifierOfNames({ claims })
    .verify('ada.x')
    .catch((cause) => cause)
  expect(error.headers()['www-authenticate']).toMatch(/^DPoP /)
})

describe('a genuine token', () => {
  const revoked = (kind: RevocationKind, subject: string): Setting => ({
    revoked: [{ kind, subject, at: NOW, until: new Date(NOW.getTime() + 60_000) }],
  })
  const ended = (at: number): Setting => ({ revoked: [endedMark(new Date(at))] })
  const exchanged = { parents: [{ jti: 'parent.3', client_id: 'caller' }] }
  const own = { sub: 'client:shop' }
  const bound = { claims: { cnf: { jkt: 'thumbprint' } } }
  const text = (length: number) => `ada.${'x'.repeat(length - 4)}`

  const cases: ReadonlyArray<[string, Setting, string?]> = [
    ['as it should be', {}],
    ['for one API of several', { claims: { aud: ['https://files.example.com', 'https://x.y'] } }],
    ['of a client for itself, whom no user is asked about', { claims: { sub: 'client:nobody' } }],
    ['in its last second', { claims: { exp: SECONDS + 1 } }],
    ['made by a clock a minute ahead', { claims: { iat: SECONDS + 60 } }],
    ['as long as tokens may be', {}, `Bearer ${text(8192)}`],
    ['bound to a key, by its scheme', bound, 'DPoP ada.x'],
    ['that expires after all that was purged', ended((SECONDS + 60) * 1000 - 1)],
    ['beside another that was revoked', revoked('token', 'bob')],
    ['that comes from tokens that are alive', { claims: exchanged }],
  ]
  it.each(cases)('is accepted: %s', async (_name, setting, header = 'Bearer ada.x') => {
    await expect(verifierOfNames(setting).verifyHeader(header)).resolves.toBeTruthy()
  })

  const refused: ReadonlyArray<[string, Setting, string?]> = [
    ['of another issuer', { claims: { iss: 'https://other.example.com' } }],
    ['for another API', { claims: { aud: 'https://x.y' } }],
    ['for other APIs', { claims: { aud: ['https://x.y', 'https://x.z'] } }],
    ['of no subject', { claims: { sub: 'ada' } }],
    ['of a user who is gone', {}, 'Bearer nobody.x'],
    ['at its expiry', { claims: { exp: SECONDS } }],
    ['made by a clock far ahead', { claims: { iat: SECONDS + 61 } }],
    ['longer than tokens may be', {}, `Bearer ${text(8193)}`],
    ['bound to a key, as a bearer’s', bound],
    ['a bearer’s, as if it were bound', {}, 'DPoP ada.x'],
    ['that expires with what was purged', ended((SECONDS + 60) * 1000)],
    ['whose grant was revoked', revoked('token', 'ada')],
    ['that was replaced', revoked('token', 'ada.0')],
    ['whose client was revoked', revoked('client', 'shop')],
    ['of a client that was revoked, for itself', { ...revoked('client', 'shop'), claims: own }],
    ['from a grant that was revoked', { ...revoked('token', 'parent'), claims: exchanged }],
    ['from a token that was replaced', { ...revoked('token', 'parent.3'), claims: exchanged }],
    ['from a client that was revoked', { ...revoked('client', 'caller'), claims: exchanged }],
  ]
  it.each(refused)('is refused: %s', async (_name, setting, header = 'Bearer ada.x') => {
    const verdict = (async () => verifierOfNames(setting).verifyHeader(header))()
    await expect(verdict).rejects.toMatchObject({ code: 'invalid_token' })
  })
})
