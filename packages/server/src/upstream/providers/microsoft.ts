import * as oauth from 'oauth4webapi'
import { z } from 'zod'
import { clientId, secret, url } from './fields.ts'
import { createOpenIdProvider, readStandardClaims } from './openid-provider.ts'
import { type ProviderKind, UpstreamFailure } from './provider.ts'

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** The tenant of all personal accounts. */
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad'
const TEMPLATE = '{tenantid}'

const settings = z
  .strictObject({
    clientId,
    clientSecret: secret,
    tenant: z
      .string()
      .refine(
        (value) => GUID.test(value) || ['common', 'organizations', 'consumers'].includes(value),
        "expected the id of your tenant, such as 72f988bf-86f1-41af-91ab-2d7cd011db47, or 'common', 'organizations' or 'consumers'",
      ),
    /** Whether the addresses of this tenant count as verified. */
    emailsAreVerified: z.boolean().default(false),
    url: url.default('https://login.microsoftonline.com'),
  })
  .refine(({ tenant, emailsAreVerified }) => !emailsAreVerified || GUID.test(tenant), {
    path: ['emailsAreVerified'],
    message:
      'expected false unless tenant is the id of your own tenant: administrators of other tenants can enter any address',
  })

/**
 * Microsoft: https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc. The issuer
 * contains the tenant of the person. An address counts as verified only with the optional claim
 * `xms_edov`, because administrators of a tenant can enter any address for their people.
 */
export const microsoft: ProviderKind<z.output<typeof settings>> = {
  settings,
  secretMember: 'clientSecret',
  create: ({ id, secret, settings: { clientId, tenant, url, emailsAreVerified } }, tools) => {
    const issuerFor = (name: string) => `${url}/${name}/v2.0`
    const fixed = tenant === 'consumers' ? PERSONAL : GUID.test(tenant) ? tenant : null
    const acceptsTenant = (tid: unknown): tid is string =>
      typeof tid === 'string' &&
      GUID.test(tid) &&
      (fixed === null || tid === fixed) &&
      (tenant !== 'organizations' || tid !== PERSONAL)
    return createOpenIdProvider(
      {
        id,
        name: 'Microsoft',
        issuer: issuerFor(tenant),
        clientId,
        scopes: ['openid', 'email', 'profile'],
        authenticate: () => oauth.ClientSecretPost(secret),
        freshParameters: { prompt: 'login' },
        acceptsIssuer: (issuer) => issuer === issuerFor(fixed ?? TEMPLATE),
        issuerOf(_server, tid) {
          if (acceptsTenant(tid)) return issuerFor(tid)
          throw new UpstreamFailure('invalid', 'The ID token is of a tenant that is not allowed')
        },
        readIdentity(claims) {
          const { subject, ...person } = readStandardClaims(claims)
          const isOwned = [true, 1, '1', 'true'].includes(claims.xms_edov as boolean)
          // `sub` is unique within the tenant.
          const unique = `${String(claims.tid)}:${subject}`
          return { ...person, subject: unique, isEmailVerified: isOwned || emailsAreVerified }
        },
      },
      tools,
    )
  },
}
