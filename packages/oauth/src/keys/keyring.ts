import { deriveKey, type MacKey, macKeyOf, sha256 } from '../crypto.ts'

/** What is proven or hidden by a key of its own, and is in other people's hands. */
const PURPOSES = [
  'refresh tokens',
  'opaque access tokens',
  'cookie mode',
  'csrf tokens',
  'approval forms',
] as const

export type Purpose = (typeof PURPOSES)[number]

/** The keys of a secret that was dropped, as they are stored, sealed with the present one. */
export interface KeptKeys {
  /** Says which secret it was, and nothing about it. */
  readonly id: string
  /** In milliseconds: when nothing that they made can be alive. */
  readonly until: number
  readonly keys: Readonly<Record<Purpose, string>>
}

export interface Keyring {
  /** The first makes; all of them recognise what was made before. */
  encryptionKeys(purpose: Purpose): readonly Buffer[]
  macKeys(purpose: Purpose): readonly MacKey[]
  /** The keys of the secrets after the first, so that what they made outlives them. */
  toKeep(until: Date): readonly KeptKeys[]
  /** Takes over what is stored. */
  keep(stored: readonly KeptKeys[]): void
}

type Keys = Readonly<Record<Purpose, Buffer>>

/**
 * The keys derived from the server's secrets. A secret that is dropped leaves its keys behind, sealed
 * with its successor: otherwise every refresh token it has made would end with it.
 */
export function createKeyring(secrets: readonly string[]): Keyring {
  const own = secrets.map(deriveAll)
  let all: readonly Keys[] = own
  let macs = buildMacs(all)

  return {
    encryptionKeys: (purpose) => all.map((keys) => keys[purpose]),
    macKeys: (purpose) => macs[purpose],
    toKeep: (until) =>
      own.slice(1).map((keys) => ({
        id: idOf(keys),
        until: until.getTime(),
        keys: mapKeys(keys, toText),
      })),
    keep(stored) {
      const known = new Set(own.map(idOf))
      const kept = stored.filter(({ id }) => !known.has(id))
      all = [...own, ...kept.map(({ keys }) => mapKeys(keys, toBytes))]
      macs = buildMacs(all)
    },
  }
}

export function parseKeptKeys(text: string): KeptKeys {
  const { id, until, keys } = JSON.parse(text) as KeptKeys
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
