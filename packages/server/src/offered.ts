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
import { looksUpAccounts, withLookup } from './config/standards.ts'
import type { UserAccounts } from './users/users.ts'

/** How well people have proven who they are: sessions begin with a password. */
export const PASSWORD_ACR = 'password'

/** What the settings say, as features of the authorization server. */
export function offeredFeatures(config: Config): Feature[] {
  const { settings, selfRegistered } = config
  const acrValues = [PASSWORD_ACR]
  return [
    ...(settings.openid ? [offeredIdentity(config)] : []),
    ...(settings.cors ? [cors()] : []),
    ...offeredToStrangers(selfRegistered, settings),
    ...(settings.clientLogos ? [clientLogos()] : []),
    ...(settings.fapi2 ? [offeredProfile(settings)] : offeredToProve(settings)),
    ...(settings.stepUp ? [stepUp({ acrValues })] : []),
    ...(settings.signedIntrospection ? [signedIntrospection(algorithmsOf(settings))] : []),
  ]
}

/** How clients prove themselves, their requests and their keys. */
function offeredToProve(settings: Settings): Feature[] {
  const { clientAssertions, pushedRequests: pushed, requestObjects: signed } = settings
  const { clientAssertionsExpireIn: assertionsExpireIn } = settings
  const sharedSecrets = clientAssertions === 'shared-secrets'
  return [
    ...(clientAssertions ? [jwtClientAuthentication({ sharedSecrets, assertionsExpireIn })] : []),
    ...(pushed ? [pushedRequests({ required: pushed === 'required' })] : []),
    ...(signed ? [offeredObjects(settings)] : []),
    ...(settings.dpop ? [dpop(proofsOf(settings))] : []),
  ]
}

/** The same, as FAPI 2.0 demands it. */
function offeredProfile(settings: Settings): Feature {
  const { required: _, ...proofs } = proofsOf(settings)
  return fapi2({
    dpop: proofs,
    clientAssertions: { assertionsExpireIn: settings.clientAssertionsExpireIn },
    requestObjects: settings.requestObjects,
  })
}

/** Without RS256, where the profile forbids it. */
function algorithmsOf({ fapi2: isStrict, signingAlgorithm }: Settings) {
  return isStrict ? { algorithms: [signingAlgorithm] } : {}
}

function offeredIdentity({ settings, pairwiseSalt }: Config): Feature {
  return openid({
    acrValues: [PASSWORD_ACR],
    logout: true,
    idTokenAlgorithm: settings.idTokenAlgorithm,
    ...(settings.fapi2 && { idTokenAlgorithms: [settings.idTokenAlgorithm] }),
    claimsInIdToken: settings.claimsInIdToken,
    scopes: settings.identityScopes,
    responseTypes: settings.responseTypes,
    ...(pairwiseSalt !== null && { pairwiseSalt }),
    ...(settings.identityAssertions && { identityAssertions: settings.identityAssertions }),
  })
}

function offeredObjects(settings: Settings): Feature {
  return requestObjects({
    required: settings.requestObjects === 'required',
    byReference: settings.requestObjectsByReference,
    unsigned: settings.unsignedRequestObjects,
  })
}

function proofsOf(settings: Settings) {
  return {
    required: settings.dpop === 'required',
    nonces: settings.dpopNonces,
    guardReplays: settings.dpopGuardReplays,
  }
}

function offeredToStrangers(
  { policy, documents, initialAccessTokens }: SelfRegistered,
  { mcpServers }: Settings,
): Feature[] {
  // MCP clients register before they know which scopes they will need.
  const scopes = mcpServers ? 'marked' : 'registered'
  // Several of them are programs that are answered at a scheme of their own.
  const redirects = mcpServers ? 'apps' : 'web'
  const hosts = Array.isArray(documents) ? { hosts: documents } : {}
  return [
    ...(policy === 'closed'
      ? []
      : [clientRegistration({ policy, initialAccessTokens, scopes, redirects })]),
    ...(documents ? [clientMetadataDocuments({ ...hosts, scopes, redirects })] : []),
    // Of what it would bring along, registration is left to the policy.
    ...(mcpServers ? [mcp({ servers: mcpServers, registration: 'closed' })] : []),
  ]
}

/** What current practice advises against can be switched off (threat T8). */
export function offeredGrants(
  settings: Settings,
  users: Pick<UserAccounts, 'findByEmail'>,
): Grant[] {
  return [
    authorizationCode(),
    refreshToken({
      repeatableFor: settings.refreshTokensRepeatableFor,
      publicRepeatableFor: settings.publicRefreshTokensRepeatableFor,
    }),
    ...(settings.passwordGrant ? [password()] : []),
    ...(settings.implicitGrant ? [implicit()] : []),
    clientCredentials(),
    ...(settings.deviceGrant ? [deviceCode()] : []),
    ...(settings.exchangeGrant ? [tokenExchange()] : []),
    ...(settings.trustedIssuers.length > 0 ? [offeredAssertions(settings, users)] : []),
  ]
}

function offeredAssertions(
  { trustedIssuers, registration }: Settings,
  users: Pick<UserAccounts, 'findByEmail'>,
): Grant {
  const byEmail = trustedIssuers.find(looksUpAccounts)
  if (byEmail && registration) {
    // A stranger who registers first with an address would get what an issuer says is its owner's.
    throw new TypeError(
      `trustedIssuers: emailDomains of ${byEmail.issuer} needs registration: false, because addresses are not verified here.`,
    )
  }
  const findId = async (email: string) => (await users.findByEmail(email))?.id
  return jwtBearer({ issuers: trustedIssuers.map((issuer) => withLookup(issuer, findId)) })
}
