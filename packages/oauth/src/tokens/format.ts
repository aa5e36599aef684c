import { deriveSealingKey, openText, sealText, signData, verifyData } from '../crypto.ts'
import { type AccessTokenClaims, parseClaims } from './claims.ts'
import type { SigningKey, SigningKeys } from './signing-keys.ts'

type Maybe<T> = T | Promise<T>

/** How claims become the text a client carries, and back. Null: not genuine. */
export interface AccessTokenFormat {
  encode(claims: AccessTokenClaims): Maybe<string>
  decode(text: string): Maybe<AccessTokenClaims | null>
}

export type AccessTokenFormatName = 'jwt' | 'opaque'
export const accessTokenFormats: readonly AccessTokenFormatName[] = ['jwt', 'opaque']

const OPAQUE_PREFIX = 'tga_'

/** Writes the chosen format and reads both, so that the choice can be changed while tokens live. */
export function createAccessTokenFormat(
  name: AccessTokenFormatName,
  keys: SigningKeys,
  secrets: readonly string[],
): AccessTokenFormat {
  const formats: Record<AccessTokenFormatName, AccessTokenFormat> = {
    jwt: jwtFormat(keys),
    opaque: opaqueFormat(secrets),
  }
  return {
    encode: (claims) => formats[name].encode(claims),
    decode: (text) =>
      text.startsWith(OPAQUE_PREFIX) ? formats.opaque.decode(text) : formats.jwt.decode(text),
  }
}

/** RFC 9068, signed with the current key. The algorithm is the key's, never the token's choice. */
function jwtFormat(keys: SigningKeys): AccessTokenFormat {
  return {
    encode(claims) {
      const key = keys.current()
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
      const data = `${key.jwtHeader}.${payload}`
      const signature = signData(key.algorithm, key.privateKey, data)
      return typeof signature === 'string'
        ? `${data}.${signature}`
        : signature.then((text) => `${data}.${text}`)
    },
    decode(text) {
      const parts = text.split('.', 4)
      const [header, payload, signature] = parts
      if (parts.length !== 3 || !header || !payload || !signature) return null
      const kid = readKid(header)
      if (kid === null) return null
      const check = (key: SigningKey | null) =>
        key && isGenuine(key, header, payload, signature) ? parseClaims(parseJson(payload)) : null
      const known = keys.find(kid)
      return known ? check(known) : keys.findOrReload(kid).then(check)
    },
  }
}

function isGenuine(key: SigningKey, header: string, payload: string, signature: string): boolean {
  // The whole header is known beforehand, so that no field of it can mislead.
  if (header !== key.jwtHeader) return false
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

/** The same claims, encrypted: clients cannot read them, other APIs ask the introspection endpoint. */
function opaqueFormat(secrets: readonly string[]): AccessTokenFormat {
  const keys = secrets.map((secret) => deriveSealingKey(secret, 'opaque access tokens'))
  return {
    encode(claims) {
      const [key] = keys
      if (!key) throw new Error('There is no secret to make access tokens with')
      return `${OPAQUE_PREFIX}${sealText(key, JSON.stringify(claims))}`
    },
    decode(text) {
      const sealed = text.slice(OPAQUE_PREFIX.length)
      for (const key of keys) {
        const opened = openText(key, sealed)
        if (opened !== null) return parseClaims(JSON.parse(opened))
      }
      return null
    },
  }
}
