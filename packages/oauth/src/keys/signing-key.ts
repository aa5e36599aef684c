import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import {
  exportJwk,
  importPrivateKey,
  type KeyObject,
  publicKeyOf,
  type SigningAlgorithm,
  sha256,
  signData,
} from '../crypto.ts'
import type { StoredKey } from '../storage/records.ts'
import type { Seal } from './seal.ts'

/** A key that is open and can sign. */
export interface SigningKey {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly publicJwk: JsonWebKey
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
  readonly activeFrom: Date
  /** The first part of a JWT: encoded once, the same for all of a `typ` that this key signs. */
  header(typ: string): string
}

export async function open(stored: StoredKey, seal: Seal): Promise<SigningKey> {
  const privateKey = importPrivateKey(JSON.parse(await unseal(stored, seal)))
  // From the sealed key, not from the column beside it: whoever can write there cannot seal.
  const publicKey = publicKeyOf(privateKey)
  const { kid, activeFrom } = stored
  const algorithm = stored.algorithm as SigningAlgorithm
  const headers = new Map<string, string>()
  return {
    kid,
    algorithm,
    publicJwk: exportJwk(publicKey),
    publicKey,
    privateKey,
    activeFrom,
    header(typ) {
      let header = headers.get(typ)
      if (header === undefined) {
        header = encode({ alg: algorithm, typ, kid })
        headers.set(typ, header)
      }
      return header
    },
  }
}

/** A JWT (RFC 7519) of this key. The algorithm is the key's, never anybody's choice. */
export function signJwt(key: SigningKey, typ: string, claims: object): Awaitable<string> {
  const data = `${key.header(typ)}.${encode(claims)}`
  const signing = signData(key.algorithm, key.privateKey, data)
  return mapAwaitable(signing, (signature) => `${data}.${signature}`)
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

/** Without dashes: people type it into a command line, where a word that begins with one is an option. */
export function keyIdOf(publicJwk: string): string {
  return sha256(publicJwk).replaceAll('-', '').slice(0, 16)
}

export async function unseal({ kid, sealedPrivateJwk }: StoredKey, seal: Seal): Promise<string> {
  const text = await seal.open(sealedPrivateJwk)
  if (text !== null) return text
  throw new Error(
    `The signing key ${kid} cannot be opened with the secret given. Start with the secret it was made with. To change it, give secret: ['new', 'old'] and run oauth.keys.reseal() (tollgate keys reseal) before you drop the old one.`,
  )
}
