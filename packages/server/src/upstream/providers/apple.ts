import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { z } from 'zod'
import { clientId, secret, url } from './fields.ts'
import { createOpenIdProvider, readStandardClaims } from './openid-provider.ts'
import type { ProviderKind } from './provider.ts'

const ID = /^[A-Z0-9]{10}$/

const settings = z.strictObject({
  /** The identifier of the Services ID. */
  clientId,
  teamId: z.string().regex(ID, 'expected the team id from Apple, ten letters and digits'),
  keyId: z.string().regex(ID, 'expected the id of the key, ten letters and digits'),
  privateKey: secret,
  url: url.default('https://appleid.apple.com'),
})

/** Lifetime of the signed secret in seconds. Apple allows six months. */
const SECRET_LIFETIME = 300

/**
 * Apple: https://developer.apple.com/documentation/signinwithapplerestapi. The client secret is a
 * JWT that we sign, and the response is a form that Apple's page posts.
 */
export const apple: ProviderKind<z.output<typeof settings>> = {
  settings,
  secretMember: 'privateKey',
  findSecretProblem: (secret) =>
    parseKey(secret) ? null : 'expected the contents of the .p8 file from Apple, an EC key (P-256)',
  create({ id, secret, settings: { clientId, teamId, keyId, url } }, tools) {
    const key = parseKey(secret)
    if (!key) throw new TypeError('apple: the private key is invalid')
    const signSecret = () => {
      const at = Math.floor(tools.now().getTime() / 1000)
      const claims = { iss: teamId, iat: at, exp: at + SECRET_LIFETIME, aud: url, sub: clientId }
      return signJwt({ alg: 'ES256', kid: keyId }, claims, key)
    }
    return createOpenIdProvider(
      {
        id,
        name: 'Apple',
        issuer: url,
        clientId,
        scopes: ['openid', 'email', 'name'],
        // Required by Apple if there are scopes.
        parameters: { response_mode: 'form_post' },
        freshParameters: {},
        authenticate: () => (_server, _client, body) => {
          body.set('client_id', clientId)
          body.set('client_secret', signSecret())
        },
        readIdentity(claims) {
          // Apple's booleans can be texts.
          const isEmailVerified = [true, 'true'].includes(claims.email_verified as boolean)
          return { ...readStandardClaims(claims), isEmailVerified }
        },
      },
      tools,
    )
  },
}

/** Parses the key, also if its lines are separated by `\n` as in an environment variable. */
function parseKey(text: string): KeyObject | null {
  try {
    const key = createPrivateKey(text.replaceAll('\\n', '\n'))
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null
  } catch {
    return null
  }
}

function signJwt(header: object, claims: object, key: KeyObject): string {
  const [head, body] = [header, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signed = `${head}.${body}`
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}
