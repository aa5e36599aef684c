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
  requirePkce,
  signedIntrospection,
  stepUp,
  tokenExchange,
} from '@tollgate/oauth'
import type { Config, SelfRegistered } from './config/config.ts'
import { OPTIONS_UNDER_FAPI2 } from './config/fapi2.ts'
import { optionsOf } from './config/library-options.ts'
import type { Settings } from './config/settings.ts'
import { addAccountLookup } from './config/shapes.ts'
import { MFA_ACR, PASSWORD_ACR } from './sessions/methods.ts'
import type { UserAccounts } from './users/users.ts'

const pick = <Options extends object, Name extends keyof Options>(
  options: Options,
  names: readonly Name[],
) =>
  Object.fromEntries(
    names.filter((name) => name in options).map((name) => [name, options[name]]),
  ) as Pick<Options, Name>

const includeIf = <Offered>(isOn: unknown, offer: () => Offered): Offered[] =>
  isOn ? [offer()] : []

/** Creates the features of the authorization server that the settings switch on. */
export function enabledFeatures({ settings, selfRegistered, pairwiseSalt }: Config): Feature[] {
  const { clientAssertions } = settings
  const proofs = optionsOf('dpop', settings)
  const assertions = optionsOf('jwtClientAuthentication', settings)
  const pushed = optionsOf('pushedRequests', settings)
  const acrValues = settings.secondFactor === 'off' ? [PASSWORD_ACR] : [PASSWORD_ACR, MFA_ACR]
  const identity = () =>
    openid({
      acrValues,
      logout: true,
      ...optionsOf('openid', settings),
      ...(pairwiseSalt !== null && { pairwiseSalt }),
    })
  /** Features that authenticate clients and protect requests and tokens. */
  const proven = () => [
    ...includeIf(clientAssertions, () =>
      jwtClientAuthentication({
        ...assertions,
        sharedSecrets: clientAssertions === 'shared-secrets',
      }),
    ),
    ...includeIf(settings.pushedRequests, () =>
      pushedRequests({ ...pushed, required: settings.pushedRequests === 'required' }),
    ),
    ...includeIf(settings.requestObjects, () =>
      requestObjects({
        ...optionsOf('requestObjects', settings),
        required: settings.requestObjects === 'required',
      }),
    ),
    ...includeIf(settings.dpop, () => dpop({ ...proofs, required: settings.dpop === 'required' })),
    ...includeIf(settings.requirePkce, requirePkce),
  ]
  /** Replaces `proven()` under FAPI 2.0, with the options that the profile requires. */
  const profile = () =>
    fapi2({
      dpop: pick(proofs, OPTIONS_UNDER_FAPI2.dpop),
      pushedRequests: pick(pushed, OPTIONS_UNDER_FAPI2.pushedRequests),
      clientAssertions: pick(assertions, OPTIONS_UNDER_FAPI2.jwtClientAuthentication),
      requestObjects: settings.requestObjects,
    })
  return [
    ...includeIf(settings.openid, identity),
    ...includeIf(settings.cors, () => cors(optionsOf('cors', settings))),
    ...registrationFeatures(selfRegistered, settings),
    ...includeIf(settings.clientLogos, clientLogos),
    ...(settings.fapi2 ? [profile()] : proven()),
    ...includeIf(settings.stepUp, () => stepUp({ acrValues })),
    ...includeIf(settings.signedIntrospection, () =>
      signedIntrospection(optionsOf('signedIntrospection', settings)),
    ),
  ]
}

function registrationFeatures(
  { policy, documents, initialAccessTokens }: SelfRegistered,
  settings: Settings,
): Feature[] {
  const { mcpServers, clientRegistrationScopes, clientRegistrationRedirects } = settings
  // MCP clients register before they know which scopes they need.
  const scopes = clientRegistrationScopes ?? (mcpServers ? 'marked' : 'registered')
  // Several MCP clients are desktop apps with a custom URI scheme.
  const redirects = clientRegistrationRedirects ?? (mcpServers ? 'apps' : 'web')
  const hosts = Array.isArray(documents) ? { hosts: documents } : {}
  return [
    ...(policy === 'closed'
      ? []
      : [
          clientRegistration({
            ...optionsOf('clientRegistration', settings),
            policy,
            initialAccessTokens,
            scopes,
            redirects,
          }),
        ]),
    ...includeIf(documents, () =>
      clientMetadataDocuments({
        ...optionsOf('clientMetadataDocuments', settings),
        ...hosts,
        scopes,
        redirects,
      }),
    ),
    // `mcp()` would also enable registration, which the setting `policy` decides here.
    ...(mcpServers
      ? [
          mcp({
            ...optionsOf('mcp', settings),
            servers: mcpServers,
            registration: 'closed',
            redirects,
          }),
        ]
      : []),
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
    refreshToken(optionsOf('refreshToken', settings)),
    ...includeIf(settings.passwordGrant, password),
    ...includeIf(settings.implicitGrant, implicit),
    clientCredentials(),
    ...includeIf(settings.deviceGrant, () => deviceCode(optionsOf('deviceCode', settings))),
    ...includeIf(settings.exchangeGrant, () => tokenExchange(optionsOf('tokenExchange', settings))),
    ...includeIf(settings.trustedIssuers.length > 0, () => assertionGrant(settings, users)),
  ]
}

function assertionGrant(settings: Settings, users: Pick<UserAccounts, 'findByEmail'>): Grant {
  const findId = async (email: string) => (await users.findByEmail(email))?.id
  return jwtBearer({
    ...optionsOf('jwtBearer', settings),
    issuers: settings.trustedIssuers.map((issuer) => addAccountLookup(issuer, findId)),
  })
}
