import { z } from 'zod'
import { clientId, issuer, label, secret } from './fields.ts'
import {
  authenticateWithSecret,
  createOpenIdProvider,
  readStandardClaims,
} from './openid-provider.ts'
import type { ProviderKind } from './provider.ts'

const settings = z.strictObject({
  /** Name that the buttons show. */
  name: label,
  /** The issuer. Its discovery document names everything else. */
  issuer,
  clientId,
  clientSecret: secret,
  scopes: z
    .array(z.string().min(1))
    .refine((scopes) => scopes.includes('openid'), "expected 'openid' among the scopes")
    .readonly()
    .default(['openid', 'email', 'profile']),
  /**
   * Whether all addresses of this provider count as verified, although its tokens do not say so.
   * Only for a provider whose people cannot choose their address.
   */
  emailsAreVerified: z.boolean().default(false),
})

/** Any OpenID provider, by discovery. */
export const custom: ProviderKind<z.output<typeof settings>> = {
  settings,
  secretMember: 'clientSecret',
  create: (
    { id, secret, settings: { name, issuer, clientId, scopes, emailsAreVerified } },
    tools,
  ) =>
    createOpenIdProvider(
      {
        id,
        name,
        issuer,
        clientId,
        scopes,
        authenticate: authenticateWithSecret(secret),
        freshParameters: { prompt: 'login', max_age: '0' },
        readIdentity(claims) {
          const identity = readStandardClaims(claims)
          return { ...identity, isEmailVerified: identity.isEmailVerified || emailsAreVerified }
        },
      },
      tools,
    ),
}
