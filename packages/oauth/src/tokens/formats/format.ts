import { andThen, type Maybe } from '../../awaitable.ts'
import { signData, verifyData } from '../../crypto.ts'
import type { SigningKey, SigningKeys } from '../../keys/signing-keys.ts'
import type { Token } from '../../storage/repositories.ts'
import { type AccessTokenClaims, buildClaims, parseClaims } from './claims.ts'
import { createOpaqueTokens, OPAQUE_PREFIX, type OpaqueTokenOptions } from './opaque.ts'

/** How a token becomes the text a client carries, and back to its claims. Null: not genuine. */
export interface AccessTokenFormat {
  encode(token: Token, scopes: readonly string[]): Maybe<string>
  decode(text: string): Maybe<AccessTokenClaims | null>
}

export type AccessTokenFormatName = 'jwt' | 'opaque'
export const accessTokenFormats: readonly AccessTokenFormatName[] = ['jwt', 'opaque']

export interface AccessTokenFormatOptions extends OpaqueTokenOptions {
  readonly keys: SigningKeys
}

/** Writes the chosen format and reads both, so that the choice can be changed while tokens live. */
export function createAccessTokenFormat(
  name: AccessTokenFormatName,
  options: AccessTokenFormatOptions,
): AccessTokenFormat {
  const opaque = createOpaqueTokens(options)
  const formats: Record<AccessTokenFormatName, AccessTokenFormat> = {
    jwt: jwtFormat(options),
    opaque: { encode: opaque.format, decode: opaque.read },
  }
  return {
    encode: formats[name].encode,
    decode: (text) =>
      text.startsWith(OPAQUE_PREFIX) ? formats.opaque.decode(text) : formats.jwt.decode(text),
  }
}

/** RFC 9068, signed with the current key. The algorithm is the key's, never the token's choice. */
function jwtFormat({ keys, server }: AccessTokenFormatOptions): AccessTokenFormat {
  return {
    encode(token, scopes) {
      const key = keys.current()
      const claims = buildClaims(token, scopes, server)
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
      const data = `${key.jwtHeader}.${payload}`
      const signed = signData(key.algorithm, key.privateKey, data)
      return andThen(signed, (signature) => `${data}.${signature}`)
    },
    decode(text) {
      const parts = text.split('.', 4)
      const [header, payload, signature] = parts
      if (parts.length !== 3 || !header || !payload || !signature) return null
      const check = (key: SigningKey | null) =>
        key && isGenuine(key, header, payload, signature) ? parseClaims(parseJson(payload)) : null
      const known = keys.findByHeader(header)
      if (known) return check(known)
      const kid = readKid(header)
      return kid === null ? null : keys.findOrReload(kid).then(check)
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
