import { createMacKey, deriveKey, type MacKey, sha256 } from '../crypto.ts'

/**
 * Purposes that have their own derived key. Clients and browsers hold the data that these keys
 * protect.
 */
const PURPOSES = [
  'refresh tokens',
  'opaque access tokens',
  'cookie mode',
  'csrf tokens',
  'approval forms',
] as const

export type KeyPurpose = (typeof PURPOSES)[number]

/**
 * The derived keys of a server secret that was or will be removed. Stored encrypted with the
 * current secret, so that existing data stays readable.
 */
export interface RetainedKeys {
  /** Id of the secret. Reveals nothing about the secret itself. */
  readonly id: string
  /** When everything protected by these keys has expired, in milliseconds since the epoch. */
  readonly until: number
  readonly keys: Readonly<Record<KeyPurpose, string>>
}

export interface DerivedKeyring {
  /**
   * Returns the encryption keys for a purpose. The first one encrypts new data; the others decrypt
   * existing data.
   */
  encryptionKeys(purpose: KeyPurpose): readonly Buffer[]
  macKeys(purpose: KeyPurpose): readonly MacKey[]
  /**
   * Returns the keys of all secrets except the first, to be stored until `until`, so that existing
   * data stays valid after a secret is removed.
   */
  toRetain(until: Date): readonly RetainedKeys[]
  /** Adds the retained keys of removed secrets, as loaded from the store. */
  retain(stored: readonly RetainedKeys[]): void
}

type Keys = Readonly<Record<KeyPurpose, Buffer>>

/**
 * Creates the keyring, which derives a key for each purpose from each of the server's secrets. It
 * also holds the retained keys of removed secrets, so that refresh tokens made with those stay
 * valid.
 */
export function createKeyring(secrets: readonly string[]): DerivedKeyring {
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

function buildMacs(all: readonly Keys[]): Readonly<Record<KeyPurpose, readonly MacKey[]>> {
  return mapKeys(PURPOSES, (_, purpose) => all.map((keys) => createMacKey(keys[purpose])))
}

function mapKeys<From, To>(
  keys: Readonly<Record<KeyPurpose, From>> | typeof PURPOSES,
  change: (key: From, purpose: KeyPurpose) => To,
): Record<KeyPurpose, To> {
  const from = keys as Readonly<Record<KeyPurpose, From>>
  const entries = PURPOSES.map((purpose) => [purpose, change(from[purpose], purpose)])
  return Object.fromEntries(entries) as Record<KeyPurpose, To>
}
