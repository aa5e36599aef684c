import { deriveKey, type MacKey, macKeyOf, sha256 } from '../crypto.ts'

/**
 * Purposes that have their own derived key. What these keys protect is held by clients and
 * browsers.
 */
const PURPOSES = [
  'refresh tokens',
  'opaque access tokens',
  'cookie mode',
  'csrf tokens',
  'approval forms',
] as const

export type Purpose = (typeof PURPOSES)[number]

/** Derived keys of a removed secret, stored encrypted with the current secret. */
export interface RetainedKeys {
  /** Identifies the secret without revealing anything about it. */
  readonly id: string
  /** When everything protected by these keys has expired, in milliseconds since the epoch. */
  readonly until: number
  readonly keys: Readonly<Record<Purpose, string>>
}

export interface Keyring {
  /**
   * Returns the keys of a purpose. The first one is for new data, all others are for existing data.
   */
  encryptionKeys(purpose: Purpose): readonly Buffer[]
  macKeys(purpose: Purpose): readonly MacKey[]
  /**
   * Returns the keys of all secrets except the first, to be stored until `until`, so that existing
   * data stays valid after a secret is removed.
   */
  toRetain(until: Date): readonly RetainedKeys[]
  /** Takes over keys loaded from the store. */
  retain(stored: readonly RetainedKeys[]): void
}

type Keys = Readonly<Record<Purpose, Buffer>>

/**
 * Derives the keys of each purpose from the server's secrets. The keys of a removed secret stay
 * available, encrypted with its successor; otherwise all refresh tokens made with it would become
 * invalid.
 */
export function createKeyring(secrets: readonly string[]): Keyring {
  const own = secrets.map(deriveAll)
  let all: readonly Keys[] = own
  let macs = buildMacs(all)

  return {
    encryptionKeys: (purpose) => all.map((keys) => keys[purpose]),
    macKeys: (purpose) => macs[purpose],
    toRetain: (until) =>
      own.slice(1).map((keys) => ({
        id: idOf(keys),
        until: until.getTime(),
        keys: mapKeys(keys, toText),
      })),
    retain(stored) {
      const known = new Set(own.map(idOf))
      const kept = stored.filter(({ id }) => !known.has(id))
      all = [...own, ...kept.map(({ keys }) => mapKeys(keys, toBytes))]
      macs = buildMacs(all)
    },
  }
}

export function parseRetainedKeys(text: string): RetainedKeys {
  const { id, until, keys } = JSON.parse(text) as RetainedKeys
  return { id, until, keys: mapKeys(keys, String) }
}

const toText = (key: Buffer) => key.toString('base64url')
const toBytes = (text: string) => Buffer.from(text, 'base64url')

function deriveAll(secret: string): Keys {
  return mapKeys(PURPOSES, (_, purpose) => deriveKey(secret, purpose))
}

function idOf(keys: Keys): string {
  return sha256(toText(keys['refresh tokens'])).slice(0, 16)
}

function buildMacs(all: readonly Keys[]): Readonly<Record<Purpose, readonly MacKey[]>> {
  return mapKeys(PURPOSES, (_, purpose) => all.map((keys) => macKeyOf(keys[purpose])))
}

function mapKeys<From, To>(
  keys: Readonly<Record<Purpose, From>> | typeof PURPOSES,
  change: (key: From, purpose: Purpose) => To,
): Record<Purpose, To> {
  const from = keys as Readonly<Record<Purpose, From>>
  const entries = PURPOSES.map((purpose) => [purpose, change(from[purpose], purpose)])
  return Object.fromEntries(entries) as Record<Purpose, To>
}
