import { beforeEach, describe, expect, it } from 'vitest'
import type { SigningAlgorithm } from '../crypto.ts'
import { memoryStorage } from '../storage/memory.ts'
import type { Storage } from '../storage/repositories.ts'
import { createKeyring } from './keyring.ts'
import { createSigningKeys } from './signing-keys.ts'

const SECRET = 'a secret of more than thirty-two characters'
const AHEAD = 300

let storage: Storage
let now: Date

beforeEach(() => {
  storage = memoryStorage()
  now = new Date('2026-05-01T12:00:00Z')
})

/**
 * Starts a process that signs access tokens with the first algorithm and other things with the
 * others.
 */
async function startWith(...algorithms: [SigningAlgorithm, ...SigningAlgorithm[]]) {
  const keys = createSigningKeys({
    repository: storage.keys,
    secrets: [SECRET],
    keyring: createKeyring([SECRET]),
    algorithm: algorithms[0],
    algorithms: new Set(algorithms),
    accessTokenTypes: ['at+jwt'],
    publishedAheadSeconds: AHEAD,
    latestExpiry: () => now,
    clock: { now: () => now },
    logger: { error() {} },
  })
  await keys.load()
  return keys
}

const wait = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000)
}

describe('the set of signing keys', () => {
  it('creates a key for each algorithm in use, and signs with these keys immediately on a new server', async () => {
    const keys = await startWith('ES256', 'RS256')
    expect(keys.all().map(({ algorithm }) => algorithm)).toEqual(['ES256', 'RS256'])
    expect(keys.current().algorithm).toBe('ES256')
    expect(keys.current('RS256').algorithm).toBe('RS256')
    expect(() => keys.current('EdDSA')).toThrow('no EdDSA signing key')
  })

  it('signs with a new key that was written but cannot be read back yet, and reads the key later', async () => {
    const keys = await startWith('EdDSA')
    const { list } = storage.keys
    storage.keys.list = async () => {
      throw new Error('The database is unavailable')
    }
    const made = await keys.rotate()
    expect(made).toMatchObject({ algorithm: 'EdDSA', activeFrom: new Date(+now + AHEAD * 1000) })
    storage.keys.list = list
    await keys.reload()
    expect(keys.all().map(({ kid }) => kid)).toContain(made.kid)
    expect(keys.all()).toHaveLength(2)
  })

  it('keeps signing with the previous algorithm until every process has had time to read the new key', async () => {
    const [former] = (await startWith('EdDSA')).all()
    const keys = await startWith('ES256', 'RS256')
    expect(keys.current()).toMatchObject({ kid: former?.kid })
    expect(keys.current('RS256').algorithm).toBe('RS256')
    wait(AHEAD - 1)
    expect(keys.current().kid).toBe(former?.kid)
    wait(1)
    expect(keys.current().algorithm).toBe('ES256')
    expect(keys.findByHeader(former?.header('at+jwt') ?? '')?.kid).toBe(former?.kid)
  })

  it('waits before it signs with a new algorithm, even if other tokens still use the previous algorithm', async () => {
    const former = (await startWith('RS256')).current()
    const keys = await startWith('ES256', 'RS256')
    expect(keys.current().kid).toBe(former.kid)
    wait(AHEAD)
    expect(keys.current().algorithm).toBe('ES256')
  })

  it("finds the key of an access token only if the token's header is written exactly as this server writes it", async () => {
    const keys = await startWith('ES256')
    expect(keys.findByHeader(keys.current().header('at+jwt'))).not.toBeNull()
    expect(keys.findByHeader(keys.current().header('JWT'))).toBeNull()
  })
})

describe('revoking a signing key', () => {
  it('creates a new key of the same algorithm and keeps the other keys', async () => {
    const keys = await startWith('ES256', 'RS256')
    const [main, other] = [keys.current(), keys.current('RS256')]
    expect(await keys.revoke(other.kid)).toBe(true)
    expect(keys.current().kid).toBe(main.kid)
    expect(keys.current('RS256').kid).not.toBe(other.kid)
    expect(keys.current('RS256').activeFrom).toEqual(now)
  })

  it('makes the key of a newly chosen algorithm sign immediately, although its advance publication has not ended', async () => {
    const former = (await startWith('EdDSA')).current()
    const keys = await startWith('ES256')
    await keys.revoke(former.kid)
    expect(keys.current().algorithm).toBe('ES256')
    expect(keys.current().activeFrom).toEqual(now)
    expect(keys.all().map(({ algorithm }) => algorithm)).not.toContain('EdDSA')
  })

  it('creates no new key if the server no longer signs with that algorithm', async () => {
    const former = (await startWith('EdDSA')).current()
    const keys = await startWith('ES256')
    wait(AHEAD)
    await keys.revoke(former.kid)
    expect(keys.all().map(({ algorithm }) => algorithm)).toEqual(['ES256'])
  })

  it('replaces all keys with one new key per algorithm', async () => {
    const keys = await startWith('ES256', 'RS256')
    const before = keys.all().map(({ kid }) => kid)
    await keys.replaceAll()
    expect(
      keys
        .all()
        .map(({ algorithm }) => algorithm)
        .sort(),
    ).toEqual(['ES256', 'RS256'])
    expect(keys.all().filter(({ kid }) => before.includes(kid))).toEqual([])
  })
})
