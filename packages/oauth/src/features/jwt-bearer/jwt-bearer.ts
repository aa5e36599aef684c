import type { ServerContext } from '../../context.ts'
import { UnauthorizedClient } from '../../errors.ts'
import type { Grant, GrantContext, GrantType } from '../../grants/grant.ts'
import { requireParam } from '../../http/form.ts'
import { parseLifetime } from '../../lifetimes.ts'
import { buildResourceDetails } from '../../resources/requested.ts'
import { assertNotReplayed, verifyAssertion } from './assertion.ts'
import { type JwtBearerOptions, resolveIssuers, type TrustedIssuers } from './settings.ts'
import { determineAccessFromAssertion } from './share.ts'
import { findAssertionSubject } from './subject.ts'

const JWT_BEARER: GrantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag'

/**
 * Creates the JWT bearer grant (RFC 7523 §2.1). A confidential client that holds the grant sends a
 * JWT that a trusted issuer signed about a person, and gets an access token for that person,
 * without a refresh token. With `clientOf`, a workload without a secret gets a token for itself.
 * @example
 * createAuthorizationServer({ …, grants: [jwtBearer({ issuers: [{ issuer, jwksUri, scopes, userOf }] })] })
 */
export function jwtBearer(options: JwtBearerOptions): Grant {
  const issuers = resolveIssuers(options.issuers)
  const all = [...issuers.values()]
  const hasWorkloads = all.some(({ clientOf }) => clientOf !== null)
  const expireAt = parseLifetime(
    'jwtBearer: accessTokensExpireIn',
    options.accessTokensExpireIn ?? '1h',
  )
  return {
    type: JWT_BEARER,
    start: (context: ServerContext) => assertFitting(issuers, context),
    metadata: (): Record<string, unknown> =>
      all.some(({ isIdJag }) => isIdJag)
        ? { authorization_grant_profiles_supported: [ID_JAG_PROFILE] }
        : {},
    async exchange({ client, params, signOutMark }, context: ServerContext) {
      if (!client.confidential && !hasWorkloads) throw publicClient()
      const text = requireParam(params, 'assertion')
      const assertion = await verifyAssertion(text, client, issuers, context)
      // The assertion of a workload also authenticates the client; one about a person does not.
      if (!client.confidential && !assertion.settings.clientOf) throw publicClient()
      const userId = await findAssertionSubject(assertion, client, context)
      const { scopes, resources } = determineAccessFromAssertion(
        assertion,
        { client, params },
        context,
      )
      // Last, so that a request rejected for another reason can be corrected and repeated.
      await assertNotReplayed(assertion, context)
      return context.issueTokens({
        client,
        userId,
        scopes,
        grantType: JWT_BEARER,
        refreshable: false,
        expiresAt: expireAt(context.clock.now()),
        signOutMark,
        details: buildResourceDetails(resources, context.options.resources),
      })
    },
  }
}

function publicClient(): UnauthorizedClient {
  return new UnauthorizedClient('Only confidential clients may use assertions about people')
}

/** Checks the options that depend on the rest of the server. */
function assertFitting(issuers: TrustedIssuers, context: GrantContext): void {
  const { issuer, options } = context as ServerContext
  if (issuers.has(issuer)) {
    // Accepting its own tokens would give more access than they were issued for.
    throw new TypeError('jwtBearer: this server cannot be one of its own issuers.')
  }
  for (const { name, scopes } of issuers.values()) {
    const unknown = scopes.find((scope) => !options.scopeNames.has(scope))
    if (unknown !== undefined) {
      throw new TypeError(`jwtBearer: ${name}: the scope '${unknown}' is not defined.`)
    }
    const personal = scopes.find((scope) => options.identityScopes.has(scope))
    if (personal !== undefined) {
      throw new TypeError(
        `jwtBearer: ${name}: the scope '${personal}' is only for users who sign in to this server.`,
      )
    }
  }
}
