import * as oauth from 'oauth4webapi'
import { z } from 'zod'
import { clientId, secret, url } from './fields.ts'
import { createOpenIdProvider, readStandardClaims } from './openid-provider.ts'
import type { ProviderKind } from './provider.ts'

const settings = z.strictObject({
  clientId,
  clientSecret: secret,
  url: url.default('https://accounts.google.com'),
})

/** Google: https://developers.google.com/identity/openid-connect/openid-connect */
export const google: ProviderKind<z.output<typeof settings>> = {
  settings,
  secretMember: 'clientSecret',
  create: ({ id, secret, settings: { clientId, url } }, tools) =>
    createOpenIdProvider(
      {
        id,
        name: 'Google',
        issuer: url,
        clientId,
        scopes: ['openid', 'email', 'profile'],
        authenticate: () => oauth.ClientSecretPost(secret),
        // Google knows neither `prompt=login` nor `max_age`.
        freshParameters: { prompt: 'select_account' },
        readIdentity: readStandardClaims,
      },
      tools,
    ),
}
