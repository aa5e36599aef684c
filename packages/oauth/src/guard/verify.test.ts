import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { followRevocations, type RevocationFeed } from '../revocations/feed.ts'
import { memoryStorage } from '../storage/memory.ts'
import { buildEndedEntry, type NewRevocation, type RevocationKind } from '../storage/records.ts'
import type { RevocationRepository } from '../storage/repositories.ts'
import type { AccessTokenClaims } from '../tokens/formats/claims.ts'
import { createUserExistenceCache } from '../users/known-users.ts'
import { createUserProviders } from '../users/providers.ts'
import { createTokenVerifier } from './verify.ts'

const issuer = 'https://api.example.com'
const NOW = new Date('2026-05-01T12:00:00Z')
const SECONDS = NOW.getTime() / 1000

interface Setting {
  readonly claims?: Partial<AccessTokenClaims>
  readonly revoked?: readonly NewRevocation[]
  /** Returns the number of keys revoked so far. */
  readonly removals?: () => number
  readonly feed?: RevocationFeed
  readonly onDecode?: () => void
  /** Whether decoding a token takes a read, as with opaque tokens. */
  readonly decodesByRead?: boolean
  readonly findById?: (id: string) => { readonly id: string } | null
}

const feedOf = (revocations: Pick<RevocationRepository, 'readFrom'>) =>
  followRevocations(revocations, { error: () => {} })

/** Creates a verifier that accepts any text such as `ada.x` as a token of the user `ada`. */
function createTestVerifier(setting: Setting = {}) {
  const { claims = {}, revoked = [], removals = () => 0, feed, onDecode, findById } = setting
  const { decodesByRead = true } = setting
  const { revocations } = memoryStorage()
  for (const entry of revoked) revocations.append(entry)
  return createTokenVerifier({
    accessTokens: {
      decode(text) {
        onDecode?.()
        const [name] = text.split('.')
        const life = { iat: SECONDS, exp: SECONDS + 60 }
        const shared = { iss: issuer, aud: issuer, client_id: 'shop', scope: '', ...life }
        const decoded = { ...shared, sub: `user:${name}`, jti: `${name}.0`, ...claims }
        return decodesByRead ? Promise.resolve(decoded) : decoded
      },
    },
    keys: { removals },
    feed: feed ?? feedOf(revocations),
    knownUsers: createUserExistenceCache({
      providers: createUserProviders({
        findById: findById ?? ((id) => (id === 'nobody' ? null : { id })),
      }),
      logger: { error: () => {} },
    }),
    issuer,
    audiences: new Set([issuer, 'https://files.example.com']),
    machineScopes: new Set(),
    clock: { now: () => NOW },
  })
}

it('the token verifier distinguishes two tokens with the same signature, in whichever order they arrive', async () => {
  const verifier = createTestVerifier()
  for (const name of ['ada', 'bob', 'ada', 'ada', 'bob', 'bob']) {
    const text = `${name}.the-same-signature`
    const { subject } = await verifier.verify(text)
    expect(subject).toEqual({ kind: 'user', id: name })
    expect(verifier.verifyHeader(`Bearer ${text}`)).toMatchObject({ subject: { id: name } })
  }
  expect(verifier.verifyHeader('Bearer eve.the-same-signature')).toBeInstanceOf(Promise)
})

it('the token verifier caches a token on its second use if the token needs no database read', async () => {
  let decoded = 0
  const verifier = createTestVerifier({ decodesByRead: false, onDecode: () => void decoded++ })
  await verifier.verify('eve.x')
  decoded = 0
  for (const times of [1, 2, 2, 2]) {
    await verifier.verifyHeader('Bearer ada.x')
    expect(decoded).toBe(times)
  }
  expect(verifier.verifyHeader('Bearer bob.x')).toBeInstanceOf(Promise)
  expect(decoded).toBe(3)
})

it('the token verifier returns its result synchronously, without a promise, if the user is cached and no database read is needed', async () => {
  const verifier = createTestVerifier({ decodesByRead: false })
  await verifier.verify('eve.x')
  const first = verifier.verifyHeader('Bearer ada.x')
  expect(first).toBeInstanceOf(Promise)
  await first
  expect(verifier.verifyHeader('Bearer ada.y')).toMatchObject({ subject: { id: 'ada' } })
})

it('the token verifier decodes a cached token again after a signing key was revoked', async () => {
  let [removals, decoded] = [0, 0]
  const counts = { removals: () => removals, onDecode: () => void decoded++ }
  const verifier = createTestVerifier({ decodesByRead: false, ...counts })
  await verifier.verify('eve.x')
  decoded = 0
  for (let i = 0; i < 3; i += 1) await verifier.verifyHeader('Bearer ada.x')
  expect(decoded).toBe(2)
  removals += 1
  await verifier.verifyHeader('Bearer ada.x')
  expect(decoded).toBe(3)
})

it('the token verifier empties its cache once for each revoked signing key', async () => {
  let removals = 0
  const verifier = createTestVerifier({ removals: () => removals })
  for (let i = 0; i < 3; i += 1) {
    await verifier.verify('ada.x')
    expect(verifier.verifyHeader('Bearer ada.x')).not.toBeInstanceOf(Promise)
    removals += 1
    expect(verifier.verifyHeader('Bearer ada.x')).toBeInstanceOf(Promise)
  }
})

it('the token verifier empties its cache if entries of the revocation feed were lost from the database', async () => {
  let mark = 'of the primary'
  const entry = { id: 1, kind: 'token', subject: 'bob', at: NOW, until: NOW } as const
  const feed = feedOf({
    readFrom: async () => ({ entries: [{ ...entry, mark, writtenAt: NOW }], now: NOW }),
  })
  const verifier = createTestVerifier({ feed })
  for (const other of ['of the standby', 'of a backup']) {
    await verifier.verify('ada.x')
    expect(verifier.verifyHeader('Bearer ada.x')).not.toBeInstanceOf(Promise)
    mark = other
    await feed.load()
    expect(verifier.verifyHeader('Bearer ada.x')).toBeInstanceOf(Promise)
  }
})

it('the token verifier decodes a token again if a signing key was revoked while it was being decoded', async () => {
  let decoded = 0
  const setting = { removals: () => Math.min(decoded, 1), onDecode: () => void decoded++ }
  await createTestVerifier(setting).verify('ada.x')
  expect(decoded).toBe(2)
})

describe('a cached token that was accepted one second ago', () => {
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

  it('is rejected after its client was revoked by another process', async () => {
    const { feed, revoke } = start()
    const verifier = createTestVerifier({ feed, claims: { sub: 'client:old', client_id: 'old' } })
    await verifier.verifyHeader('Bearer ada.x')
    await revoke('client', 'old')
    vi.advanceTimersByTime(1000)
    await refuses(() => verifier.verifyHeader('Bearer ada.x'))
  })

  it('is rejected after its user was deleted, even right after a read of the revocation feed', async () => {
    const { feed } = start()
    let isThere = true
    const verifier = createTestVerifier({ feed, findById: (id) => (isThere ? { id } : null) })
    await verifier.verifyHeader('Bearer ada.x')
    isThere = false
    vi.advanceTimersByTime(1000)
    await feed.load()
    await refuses(() => verifier.verifyHeader('Bearer ada.x'))
  })

  it('is rejected if it was revoked while the application was looking up its user', async () => {
    const { feed, revoke } = start()
    const verifier = createTestVerifier({
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

it('the token verifier names the scheme of the rejected token (Bearer or DPoP) in the challenge', async () => {
  const claims = { cnf: { jkt: 'thumbprint' }, exp: SECONDS }
  const error = await createTestVerifier({ claims })
    .verify('ada.x')
    .catch((cause) => cause)
  expect(error.headers()['www-authenticate']).toMatch(/^DPoP /)
})

describe.each([
  ['that reads the database to decode a token', true],
  ['that decodes tokens without reading the database', false],
])('a token verifier %s,', (_name, decodesByRead) => {
  /** Verifies a header three times, because later times may find the token in the cache. */
  async function verifyRepeatedly(setting: Setting, header: string): Promise<unknown[]> {
    const verifier = createTestVerifier({ ...setting, decodesByRead })
    await verifier.verify('eve.x').catch(() => null)
    const verdicts: unknown[] = []
    for (let i = 0; i < 3; i += 1) {
      verdicts.push(await (async () => verifier.verifyHeader(header))().catch(({ code }) => code))
    }
    return verdicts
  }

  const revoked = (kind: RevocationKind, subject: string): Setting => ({
    revoked: [{ kind, subject, at: NOW, until: new Date(NOW.getTime() + 60_000) }],
  })
  const ended = (at: number): Setting => ({ revoked: [buildEndedEntry(new Date(at))] })
  const exchanged = { parents: [{ jti: 'parent.3', client_id: 'caller' }] }
  const own = { sub: 'client:shop' }
  const bound = { claims: { cnf: { jkt: 'thumbprint' } } }
  const text = (length: number) => `ada.${'x'.repeat(length - 4)}`

  const cases: ReadonlyArray<[string, Setting, string?]> = [
    ['that is valid in every respect', {}],
    [
      'for several APIs, one of them ours',
      { claims: { aud: ['https://files.example.com', 'https://x.y'] } },
    ],
    [
      'of a client that acts for itself, without a check of users',
      { claims: { sub: 'client:nobody' } },
    ],
    ['in its last second', { claims: { exp: SECONDS + 1 } }],
    ['issued by a clock one minute ahead', { claims: { iat: SECONDS + 60 } }],
    ['of maximum length', {}, `Bearer ${text(8192)}`],
    ['bound to a key and sent with the DPoP scheme', bound, 'DPoP ada.x'],
    ['that expires after everything that was purged', ended((SECONDS + 60) * 1000 - 1)],
    ['while another token is revoked', revoked('token', 'bob')],
    ['exchanged for tokens that are valid', { claims: exchanged }],
  ]
  it.each(cases)('accepts a token %s', async (_name, setting, header = 'Bearer ada.x') => {
    const accepted = expect.objectContaining({ clientId: 'shop' })
    expect(await verifyRepeatedly(setting, header)).toEqual([accepted, accepted, accepted])
  })

  const refused: ReadonlyArray<[string, Setting, string?]> = [
    ['of another issuer', { claims: { iss: 'https://other.example.com' } }],
    ['for another API', { claims: { aud: 'https://x.y' } }],
    ['for other APIs', { claims: { aud: ['https://x.y', 'https://x.z'] } }],
    ['with an invalid subject', { claims: { sub: 'ada' } }],
    ['of a user who no longer exists', {}, 'Bearer nobody.x'],
    ['at its expiry', { claims: { exp: SECONDS } }],
    ['issued by a clock too far ahead', { claims: { iat: SECONDS + 61 } }],
    ['above the maximum length', {}, `Bearer ${text(8193)}`],
    ['bound to a key but sent with the Bearer scheme', bound],
    ['not bound to a key but sent with the DPoP scheme', {}, 'DPoP ada.x'],
    ['that expires at or before the time of the last purge', ended((SECONDS + 60) * 1000)],
    ['whose grant was revoked', revoked('token', 'ada')],
    ['replaced by a refresh', revoked('token', 'ada.0')],
    ['whose client was revoked', revoked('client', 'shop')],
    ['of a revoked client that acts for itself', { ...revoked('client', 'shop'), claims: own }],
    [
      'exchanged for a token of a revoked grant',
      { ...revoked('token', 'parent'), claims: exchanged },
    ],
    [
      'exchanged for a token that a refresh replaced',
      { ...revoked('token', 'parent.3'), claims: exchanged },
    ],
    [
      'exchanged for a token of a revoked client',
      { ...revoked('client', 'caller'), claims: exchanged },
    ],
  ]
  it.each(refused)('rejects a token %s', async (_name, setting, header = 'Bearer ada.x') => {
    const code = 'invalid_token'
    expect(await verifyRepeatedly(setting, header)).toEqual([code, code, code])
  })
})
