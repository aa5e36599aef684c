import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import {
  derivePublicKey,
  exportJwk,
  importPrivateKey,
  type KeyObject,
  type SigningAlgorithm,
  sha256,
  signData,
  signingAlgorithms,
} from '../crypto.ts'
import type { StoredKey } from '../storage/records.ts'
import type { TextEncrypter } from './seal.ts'

/** A decrypted signing key. */
export interface SigningKey {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly publicJwk: JsonWebKey
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
  readonly activeFrom: Date
  /**
   * Returns the encoded JWT header for this `typ`. All JWTs with the same key and `typ` have the
   * same header.
   */
  header(typ: string): string
}

export async function openSigningKey(stored: StoredKey, seal: TextEncrypter): Promise<SigningKey> {
  const privateKey = importPrivateKey(JSON.parse(await decryptPrivateJwk(stored, seal)))
  // Derives the public key from the encrypted private key. The public column could be changed by an
  // attacker with write access to the table.
  const publicKey = derivePublicKey(privateKey)
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

/** Signs a JWT (RFC 7519). Always uses the algorithm of the key. */
export function signJwt(key: SigningKey, typ: string, claims: object): Awaitable<string> {
  const data = `${key.header(typ)}.${encode(claims)}`
  const signing = signData(key.algorithm, key.privateKey, data)
  return mapAwaitable(signing, (signature) => `${data}.${signature}`)
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

/**
 * Derives the id of a signing key from its public key. The id contains no dash, because a
 * command-line argument that begins with a dash would be read as an option.
 */
export function deriveKeyId(publicJwk: string): string {
  return sha256(publicJwk).replaceAll('-', '').slice(0, 16)
}

export async function decryptPrivateJwk(
  { kid, sealedPrivateJwk }: StoredKey,
  seal: TextEncrypter,
): Promise<string> {
  const text = await seal.open(sealedPrivateJwk)
  if (text !== null) return text
  throw new Error(
    `The signing key ${kid} cannot be decrypted with the given secret. Start with the secret that it was encrypted with. To change the secret, give secret: ['new', 'old'] and run oauth.keys.reseal() (tollgate keys reseal) before you remove the old one.`,
  )
}

/**
 * Parses an option that lists the signing algorithms that clients may choose. The list must contain
 * the default algorithm `usual`. If the option is absent, returns `usual` and RS256, which the
 * standards require.
 * @throws TypeError if the list is invalid
 */
export function parseOfferedAlgorithms(
  option: string,
  listed: readonly SigningAlgorithm[] | undefined,
  usual: SigningAlgorithm,
): readonly SigningAlgorithm[] {
  if (listed === undefined) return [...new Set<SigningAlgorithm>([usual, 'RS256'])]
  const isKnown = listed.every((name) => signingAlgorithms.includes(name))
  if (isKnown && listed.includes(usual)) return [...listed]
  throw new TypeError(
    `${option} may contain only ${signingAlgorithms.join(', ')}, and must include the default, '${usual}'.`,
  )
}
