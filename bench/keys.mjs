import { generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto'
import { audience, issuer, scope, users } from './fixtures.mjs'

const kinds = {
  ES256: { type: 'ec', options: { namedCurve: 'P-256' }, digest: 'sha256' },
  EdDSA: { type: 'ed25519', options: {}, digest: null },
  RS256: { type: 'rsa', options: { modulusLength: 2048 }, digest: 'sha256' },
}

/**
 * Creates a key pair, with functions to sign and verify a JWT using `node:crypto`.
 * @param {'ES256' | 'EdDSA' | 'RS256'} alg
 */
export function createKey(alg) {
  const { type, options, digest } = kinds[alg]
  const { privateKey, publicKey } = generateKeyPairSync(type, options)
  const kid = randomUUID()
  const header = encode({ alg, typ: 'at+jwt', kid })
  // JWS needs r and s concatenated. The option is ignored for RSA and Ed25519.
  const signing = { key: privateKey, dsaEncoding: 'ieee-p1363' }
  const checking = { key: publicKey, dsaEncoding: 'ieee-p1363' }
  return {
    alg,
    privateKey,
    publicKey,
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' },
    privateJwk: { ...privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' },
    /** @returns {string} a signed JWT */
    signJwt(claims) {
      const input = `${header}.${encode(claims)}`
      return `${input}.${sign(digest, Buffer.from(input), signing).toString('base64url')}`
    },
    /** @returns {Record<string, any> | null} the claims of a JWT that this key signed */
    verifyJwt(jwt) {
      const end = jwt.lastIndexOf('.')
      const start = jwt.indexOf('.')
      if (jwt.slice(0, start) !== header) return null
      const signature = Buffer.from(jwt.slice(end + 1), 'base64url')
      if (!verify(digest, Buffer.from(jwt.slice(0, end)), checking, signature)) return null
      return JSON.parse(Buffer.from(jwt.slice(start + 1, end), 'base64url').toString())
    },
  }
}

/** Creates access tokens (RFC 9068) for a resource server that only verifies them. */
export function signTokens(key, count) {
  const now = Math.floor(Date.now() / 1000)
  return Array.from({ length: count }, (_, index) =>
    key.signJwt({
      iss: issuer,
      sub: users[index % users.length],
      aud: audience,
      client_id: 'bench-client',
      jti: randomUUID(),
      iat: now,
      exp: now + 86400,
      scope,
    }),
  )
}

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
