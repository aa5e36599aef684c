import type { DeliveryOptions } from '@tollgate/billing'
import type { Mode, SelfRegistered } from './config.ts'
import type { DeliverySettings } from './deliveries.ts'
import type { Settings } from './settings.ts'
import type { SelfRegisteredSettings } from './standards.ts'
import type { Variables } from './variables.ts'

/** The settings with what the environment says of them, which wins. */
export function overrideSettings(settings: Settings, values: Variables): Settings {
  const { outgoing } = settings
  return {
    ...settings,
    registration: values.TOLLGATE_REGISTRATION ?? settings.registration,
    passwordGrant: values.TOLLGATE_PASSWORD_GRANT ?? settings.passwordGrant,
    implicitGrant: values.TOLLGATE_IMPLICIT_GRANT ?? settings.implicitGrant,
    deviceGrant: values.TOLLGATE_DEVICE_GRANT ?? settings.deviceGrant,
    exchangeGrant: values.TOLLGATE_EXCHANGE_GRANT ?? settings.exchangeGrant,
    optionalScopes: values.TOLLGATE_OPTIONAL_SCOPES ?? settings.optionalScopes,
    openid: values.TOLLGATE_OPENID ?? settings.openid,
    idTokenAlgorithm: values.TOLLGATE_ID_TOKEN_ALGORITHM ?? settings.idTokenAlgorithm,
    claimsInIdToken: values.TOLLGATE_CLAIMS_IN_ID_TOKEN ?? settings.claimsInIdToken,
    identityScopes: values.TOLLGATE_IDENTITY_SCOPES ?? settings.identityScopes,
    responseTypes: values.TOLLGATE_RESPONSE_TYPES ?? settings.responseTypes,
    mcpServers: values.TOLLGATE_MCP_SERVERS ?? settings.mcpServers,
    cors: values.TOLLGATE_CORS ?? settings.cors,
    clientLogos: values.TOLLGATE_CLIENT_LOGOS ?? settings.clientLogos,
    clientAssertions: values.TOLLGATE_CLIENT_ASSERTIONS ?? settings.clientAssertions,
    clientAssertionsExpireIn:
      values.TOLLGATE_CLIENT_ASSERTIONS_EXPIRE_IN ?? settings.clientAssertionsExpireIn,
    pushedRequests: values.TOLLGATE_PUSHED_REQUESTS ?? settings.pushedRequests,
    requestObjects: values.TOLLGATE_REQUEST_OBJECTS ?? settings.requestObjects,
    requestObjectsByReference:
      values.TOLLGATE_REQUEST_OBJECTS_BY_REFERENCE ?? settings.requestObjectsByReference,
    unsignedRequestObjects:
      values.TOLLGATE_UNSIGNED_REQUEST_OBJECTS ?? settings.unsignedRequestObjects,
    dpop: values.TOLLGATE_DPOP ?? settings.dpop,
    dpopNonces: values.TOLLGATE_DPOP_NONCES ?? settings.dpopNonces,
    dpopGuardReplays: values.TOLLGATE_DPOP_GUARD_REPLAYS ?? settings.dpopGuardReplays,
    fapi2: values.TOLLGATE_FAPI2 ?? settings.fapi2,
    stepUp: values.TOLLGATE_STEP_UP ?? settings.stepUp,
    signedIntrospection: values.TOLLGATE_SIGNED_INTROSPECTION ?? settings.signedIntrospection,
    outgoing: {
      ...outgoing,
      privateAddresses: values.TOLLGATE_PRIVATE_ADDRESSES ?? outgoing.privateAddresses,
    },
    signingAlgorithm: values.TOLLGATE_SIGNING_ALGORITHM ?? settings.signingAlgorithm,
    tokenType: values.TOLLGATE_TOKEN_TYPE ?? settings.tokenType,
  }
}

const THIS_MACHINE: readonly string[] = ['127.0.0.1', 'localhost', '::1']

/** Clients that nobody has registered. Where only this machine can reach a demo, whoever tries it may come by itself. */
export function selfRegisteredOf(
  values: Variables,
  { selfRegistered, scopes, openid, identityScopes, mcpServers }: Settings,
  mode: Mode,
): SelfRegistered {
  const closed = { policy: 'closed', documents: false, scopes: [], resources: null } as const
  const open: SelfRegisteredSettings = {
    policy: 'open',
    documents: true,
    scopes: [...Object.keys(scopes), ...(openid ? ['openid', ...identityScopes] : [])],
    resources: null,
  }
  const ofMcp = Object.values(mcpServers ?? {}).flatMap((server) => server.scopes)
  const isTried = mode === 'demo' && THIS_MACHINE.includes(values.HOST ?? '127.0.0.1')
  const said = selfRegistered ?? (isTried ? open : closed)
  return {
    policy: values.TOLLGATE_CLIENT_REGISTRATION ?? said.policy,
    // They come with MCP servers, whose clients have no other way where registration is closed.
    documents: (values.TOLLGATE_CLIENT_DOCUMENTS ?? said.documents) || mcpServers !== null,
    scopes: [...new Set([...(values.TOLLGATE_SELF_REGISTERED_SCOPES ?? said.scopes), ...ofMcp])],
    resources: said.resources ?? (mcpServers && Object.keys(mcpServers)),
    initialAccessTokens: values.TOLLGATE_INITIAL_ACCESS_TOKENS ?? [],
  }
}

const LOOPBACK = ['127.0.0.0/8', '::1']

/** What the environment says wins. Whoever tries the demo has the application on this machine. */
export function deliveriesOf(
  values: Variables,
  { endpoints, privateAddresses, certificates }: DeliverySettings,
  mode: Mode,
): DeliveryOptions {
  const {
    TOLLGATE_DELIVERIES_URL: url,
    TOLLGATE_DELIVERIES_SECRET: secret,
    TOLLGATE_DELIVERIES_TYPES: types,
  } = values
  const opened = values.TOLLGATE_DELIVERIES_PRIVATE_ADDRESSES ?? privateAddresses
  return {
    endpoints: url && secret ? [{ url, secret, ...(types ? { types } : {}) }] : endpoints,
    privateAddresses: mode === 'demo' ? [...opened, ...LOOPBACK] : opened,
    certificates,
  }
}
