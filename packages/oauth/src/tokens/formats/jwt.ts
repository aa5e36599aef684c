import { mapAwaitable } from '../../awaitable.ts'
import { type SigningAlgorithm, verifyData } from '../../crypto.ts'
import { type SigningKey, signJwt } from '../../keys/signing-key.ts'
import type { SigningKeys } from '../../keys/signing-keys.ts'
import { parseClaims } from './claims.ts'
import type { AccessTokenFormat } from './format.ts'

/** A JWT has three parts (RFC 7515 §7.1). */
const SHAPE = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Settings for the JWTs of one API. */
export interface JwtFormatOptions {
  readonly algorithm: SigningAlgorithm
  readonly typ: string
}

/**
 * Writes access tokens as JWTs (RFC 9068), signed with the current key. The algorithm is taken from
 * the key, never from the token.
 */
export function createJwtFormat(
  keys: SigningKeys,
  { algorithm, typ }: JwtFormatOptions,
): AccessTokenFormat {
  return {
    recognizes: (text) => SHAPE.test(text),
    encode: (claims) => signJwt(keys.current(algorithm), typ, claims),
    decode(text) {
      const parts = text.split('.', 4)
      const [header, payload, signature] = parts
      if (parts.length !== 3 || !header || !payload || !signature) return null
      return mapAwaitable(keys.findByHeader(header) ?? findByKid(header, keys), (key) => {
        if (!key || !isGenuine(key, header, payload, signature)) return null
        return parseClaims(parseJson(payload))
      })
    },
  }
}

/**
 * Finds the key for a header, reloading the keys once if necessary. The whole header must equal the
 * header of a known key, so no field of it can mislead.
 */
async function findByKid(header: string, keys: SigningKeys): Promise<SigningKey | null> {
  const kid = readKid(header)
  if (kid !== null) await keys.findOrReload(kid)
  return keys.findByHeader(header)
}

function isGenuine(key: SigningKey, header: string, payload: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64url')
  if (bytes.toString('base64url') !== signature) return false
  return verifyData(key.algorithm, key.publicKey, `${header}.${payload}`, bytes)
}

function readKid(header: string): string | null {
  const parsed = parseJson(header)
  const kid = typeof parsed === 'object' && parsed !== null && 'kid' in parsed ? parsed.kid : null
  return typeof kid === 'string' ? kid : null
}

function parseJson(encoded: string): unknown {
  try {
    return JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'))
  } catch {
    return null
  }
}
