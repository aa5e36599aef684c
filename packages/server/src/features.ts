import {
  authorizationCode,
  clientCredentials,
  clientLogos,
  clientMetadataDocuments,
  clientRegistration,
  cors,
  deviceCode,
  dpop,
  type Feature,
  fapi2,
  type Grant,
  implicit,
  jwtBearer,
  jwtClientAuthentication,
  mcp,
  openid,
  password,
  pushedRequests,
  refreshToken,
  requestObjects,
  signedIntrospection,
  stepUp,
  tokenExchange,
} from '@tollgate/oauth'
import type { Config, SelfRegistered } from './config/config.ts'
import type { Settings } from './config/settings.ts'
import { looksUpAccounts, withLookup } from './config/shapes.ts'
import type { UserAccounts } from './users/users.ts'

/**
 * Authentication context class (`acr` claim) of every sign-in, because people sign in with a
 * password.
 */
export const PASSWORD_ACR = 'password'

const includeIf = <Offered>(isOn: unknown, offer: () => Offered): Offered[] =>
  isOn ? [offer()] : []

/** Creates the features of the authorization server that the settings switch on. */
export function enabledFeatures({ settings, selfRegistered, pairwiseSalt }: Config): Feature[] {
  const { clientAssertions, clientAssertionsExpireIn: assertionsExpireIn } = settings
  const { idTokenAlgorithm, identityAssertions, signingAlgorithm } = settings
  const proofs = { nonces: settings.dpopNonces, guardReplays: settings.dpopGuardReplays }
  const acrValues = [PASSWORD_ACR]
  const identity = () =>
    openid({
      acrValues,
      logout: true,
      idTokenAlgorithm,
      ...(settings.fapi2 && { idTokenAlgorithms: [idTokenAlgorithm] }),
      claimsInIdToken: settings.claimsInIdToken,
      scopes: settings.identityScopes,
      responseTypes: settings.responseTypes,
      ...(pairwiseSalt !== null && { pairwiseSalt }),
      ...(identityAssertions && { identityAssertions }),
    })
  /** Features that authenticate clients and protect requests and tokens. */
  const proven = () => [
    ...includeIf(clientAssertions, () =>
      jwtClientAuthentication({
        sharedSecrets: clientAssertions === 'shared-secrets',
        assertionsExpireIn,
      }),
    ),
    ...includeIf(settings.pushedRequests, () =>
      pushedRequests({ required: settings.pushedRequests === 'required' }),
    ),
    ...includeIf(settings.requestObjects, () =>
      requestObjects({
        required: settings.requestObjects === 'required',
        byReference: settings.requestObjectsByReference,
        unsigned: settings.unsignedRequestObjects,
      }),
    ),
    ...includeIf(settings.dpop, () => dpop({ required: settings.dpop === 'required', ...proofs })),
  ]
  /** Replaces `proven()` under FAPI 2.0, with the options that the profile requires. */
  const profile = () =>
    fapi2({
      dpop: proofs,
      clientAssertions: { assertionsExpireIn },
      requestObjects: settings.requestObjects,
    })
  // The profile forbids RS256.
  const algorithms = settings.fapi2 ? { algorithms: [signingAlgorithm] } : {}
  return [
    ...includeIf(settings.openid, identity),
    ...includeIf(settings.cors, cors),
    ...registrationFeatures(selfRegistered, settings),
    ...includeIf(settings.clientLogos, clientLogos),
    ...(settings.fapi2 ? [profile()] : proven()),
    ...includeIf(settings.stepUp, () => stepUp({ acrValues })),
    ...includeIf(settings.signedIntrospection, () => signedIntrospection(algorithms)),
  ]
}

function registrationFeatures(
  { policy, documents, initialAccessTokens }: SelfRegistered,
  { mcpServers }: Settings,
): Feature[] {
  // MCP clients register before they know which scopes they need.
  const scopes = mcpServers ? 'marked' : 'registered'
  // Several MCP clients are desktop apps with a custom URI scheme.
  const redirects = mcpServers ? 'apps' : 'web'
  const hosts = Array.isArray(documents) ? { hosts: documents } : {}
  return [
    ...(policy === 'closed'
      ? []
      : [clientRegistration({ policy, initialAccessTokens, scopes, redirects })]),
    ...includeIf(documents, () => clientMetadataDocuments({ ...hosts, scopes, redirects })),
    // `mcp()` would also enable registration, which the setting `policy` decides here.
    ...(mcpServers ? [mcp({ servers: mcpServers, registration: 'closed' })] : []),
  ]
}

/**
 * Creates the grants of the authorization server that the settings switch on. Grants that current
 * best practice advises against can be switched off (threat T8).
 */
export function enabledGrants(
  settings: Settings,
  users: Pick<UserAccounts, 'findByEmail'>,
): Grant[] {
  return [
    authorizationCode(),
    refreshToken({
      repeatableFor: settings.refreshTokensRepeatableFor,
      publicRepeatableFor: settings.publicRefreshTokensRepeatableFor,
    }),
    ...includeIf(settings.passwordGrant, password),
    ...includeIf(settings.implicitGrant, implicit),
    clientCredentials(),
    ...includeIf(settings.deviceGrant, deviceCode),
    ...includeIf(settings.exchangeGrant, tokenExchange),
    ...includeIf(settings.trustedIssuers.length > 0, () => assertionGrant(settings, users)),
  ]
}

function assertionGrant(
  { trustedIssuers, registration }: Settings,
  users: Pick<UserAccounts, 'findByEmail'>,
): Grant {
  const byEmail = trustedIssuers.find(looksUpAccounts)
  if (byEmail && registration) {
    // Anyone could register with another person's address first, and would receive that person's
    // tokens.
    throw new TypeError(
      `trustedIssuers: emailDomains of ${byEmail.issuer} needs registration: false, because this service does not verify the e-mail addresses of its users.`,
    )
  }
  const findId = async (email: string) => (await users.findByEmail(email))?.id
  return jwtBearer({ issuers: trustedIssuers.map((issuer) => withLookup(issuer, findId)) })
}
