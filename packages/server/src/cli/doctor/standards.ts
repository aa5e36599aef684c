import type { Database } from '@tollgate/database'
import {
  type Client,
  type ClientRequirement,
  findNewRedirectProblem,
  kyselyStorage,
} from '@tollgate/oauth'
import type { Config } from '../../config/config.ts'
import { redactSecretValues } from '../../config/in-force.ts'
import { type Settings, settingRows } from '../../config/settings.ts'
import { formatCount } from '../count.ts'
import { type Finding, keepFindings, ok, warning } from './finding.ts'

const MAX_FINDINGS = 20

/**
 * Reports which standards the settings offer, which of them are risky, and which registered clients
 * they reject.
 */
export async function checkStandards(config: Config, database: Database): Promise<Finding[]> {
  const all = await kyselyStorage(database).clients.list()
  const clients = all.filter(({ revokedAt }) => revokedAt === null)
  return [
    ...checkRegistration(config),
    ...(config.mode === 'production' ? checkGrants(config.settings, clients) : []),
    ...checkRequests(config.settings, clients),
    ...checkProfile(config.settings, clients),
    ...checkIdentity(config, clients),
    ...checkValues(config.settings),
    ...checkRedirects(clients, config.url ?? 'http://localhost'),
  ]
}

/** Reports who can register clients without an operator. */
function checkRegistration({ mode, selfRegistered }: Config): Finding[] {
  const { policy, documents, scopes, resources, initialAccessTokens } = selfRegistered
  const check = 'registration'
  if (policy === 'closed' && !documents) return [ok(check, 'No client can register itself')]
  const { length: count } = initialAccessTokens
  const tokens = count === 1 ? 'the initial access token' : `one of ${count} initial access tokens`
  const hosts = documents === true ? 'any host' : documents ? documents.join(', ') : false
  const where = resources === null ? '/api and all resources' : resources.join(', ')
  return keepFindings(
    policy === 'initial-access-token' && ok(check, `Programs with ${tokens} may register a client`),
    policy === 'open' &&
      mode === 'demo' &&
      ok(check, 'Every program that can reach this demo may register a client'),
    policy === 'open' &&
      mode === 'production' &&
      warning(
        check,
        'Anyone may register a client',
        'This is correct if any agent may connect. Otherwise set TOLLGATE_CLIENT_REGISTRATION to closed or initial-access-token.',
      ),
    hosts !== false &&
      ok(check, `Clients may identify themselves with a metadata document on ${hosts}`),
    scopes.length === 0
      ? warning(
          check,
          'Clients that register themselves may not request any scope',
          'List the scopes that they may request in selfRegistered.scopes.',
        )
      : ok(check, `Clients that register themselves may request ${scopes.join(', ')}, at ${where}`),
  )
}

const ADVISED_AGAINST = [
  { grant: 'password', setting: 'passwordGrant', variable: 'TOLLGATE_PASSWORD_GRANT' },
  { grant: 'implicit', setting: 'implicitGrant', variable: 'TOLLGATE_IMPLICIT_GRANT' },
] as const

/** Warns of grants that RFC 9700 advises against, if no client uses them. */
function checkGrants(settings: Settings, clients: readonly Client[]): Finding[] {
  return ADVISED_AGAINST.filter(({ setting }) => settings[setting]).map(({ grant, variable }) => {
    const users = clients.filter(({ grantTypes }) => grantTypes.includes(grant))
    if (users.length > 0)
      return ok('grants', `The ${grant} grant is used by ${countClients(users)}`)
    return warning('grants', `The ${grant} grant is on, and no client uses it`, `${variable}=off`)
  })
}

const DEMANDS: ReadonlyArray<
  readonly [ClientRequirement, 'pushedRequests' | 'requestObjects' | 'dpop']
> = [
  ['require_pushed_authorization_requests', 'pushedRequests'],
  ['require_signed_request_object', 'requestObjects'],
  ['dpop_bound_access_tokens', 'dpop'],
]

/** Reports how requests and tokens are protected, and which clients are rejected for it. */
function checkRequests(settings: Settings, clients: readonly Client[]): Finding[] {
  const { pushedRequests, requestObjects, dpop, dpopNonces, dpopGuardReplays } = settings
  const state = (value: boolean | 'required') =>
    value === 'required' ? 'is required' : value ? 'is offered' : 'is off'
  const nonces = dpopNonces && dpop ? ', with nonces' : ''
  const replays =
    dpop && dpopGuardReplays === 'process'
      ? '; at /api, each process detects only the replays that it receives itself'
      : ''
  const unsigned = clients.filter(cannotSign)
  const found = keepFindings(
    ok(
      'requests',
      `Pushing authorization requests ${state(pushedRequests)}, signing them ${state(requestObjects)}`,
    ),
    ok('requests', `Binding tokens to a key (DPoP) ${state(dpop)}${nonces}${replays}`),
    requestObjects !== false &&
      settings.requestObjectsByReference &&
      ok(
        'requests',
        'Signed requests may be passed by reference: the service fetches them from a URL of the client',
      ),
    requestObjects !== false &&
      settings.unsignedRequestObjects === true &&
      warning(
        'requests',
        'Request objects are accepted without a signature',
        'An unsigned request object protects nothing. Set TOLLGATE_UNSIGNED_REQUEST_OBJECTS=off unless a client needs it.',
      ),
    requestObjects === 'required' &&
      unsigned.length > 0 &&
      warning(
        'requests',
        `${countClients(unsigned)} cannot sign requests, but unsigned requests are rejected`,
        'Give them jwks or jwks_uri, or set requestObjects to true.',
      ),
  )
  const outside = DEMANDS.filter(([, setting]) => !settings[setting]).flatMap(([demand, setting]) =>
    clients
      .filter((client) => client.settings[demand] === true)
      .map(({ name, id }) => {
        const what = `${name} (${id}) has ${demand}, so it is rejected while ${setting} is off`
        return warning('requests', what, `Set ${setting} to true.`)
      }),
  )
  return [...found, ...outside.slice(0, MAX_FINDINGS)]
}

/** Warns of clients that the FAPI 2.0 profile rejects. */
function checkProfile({ fapi2 }: Settings, clients: readonly Client[]): Finding[] {
  if (!fapi2) return []
  const held = ok('clients', 'The FAPI 2.0 Security Profile applies to every client')
  const outside = clients.filter(
    ({ grantTypes, settings: { token_endpoint_auth_method: method } }) =>
      method !== 'private_key_jwt' && !grantTypes.includes('personal_access'),
  )
  if (outside.length === 0) return [held]
  const fix =
    'Register each of them again with token_endpoint_auth_method=private_key_jwt and its keys.'
  return [
    held,
    warning('clients', `The profile rejects ${countClients(outside)} without private_key_jwt`, fix),
  ]
}

function cannotSign({ grantTypes, settings: { jwks, jwks_uri } }: Client): boolean {
  return grantTypes.includes('authorization_code') && !jwks && jwks_uri === undefined
}

/**
 * Reports the remarks that each setting has on its own value (`remarks` in the table of settings),
 * and the values that replace a default of the libraries.
 */
function checkValues(settings: Settings): Finding[] {
  const { accessTokenFormat, signingAlgorithm, tokenType } = settings
  const format =
    accessTokenFormat === 'opaque'
      ? 'Access tokens are opaque: APIs introspect them'
      : `Access tokens are signed with ${signingAlgorithm}; typ is ${tokenType}`
  const remarks = [...settingRows].flatMap(([name, row]): (Finding | false)[] => {
    const { check, file, remarks: remarksOf } = row
    if (!check) return []
    const value = settings[name as keyof Settings]
    if (!remarksOf) {
      const replacesDefault = value !== null && file.parse(undefined) === null
      return replacesDefault ? [ok(check, `${name} is ${describe(value)}`)] : []
    }
    return [remarksOf(value)].flat().map((remark) => remark && { check, fix: null, ...remark })
  })
  return keepFindings(ok('tokens', format), ...remarks)
}

function describe(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(redactSecretValues(value))
}

function countClients({ length }: readonly Client[]): string {
  return formatCount(length, 'client', 'clients')
}

const CHECK = 'openid'

/**
 * Reports what other applications learn about people, and warns of pairwise clients without a salt.
 */
function checkIdentity(config: Config, clients: readonly Client[]): Finding[] {
  const { settings, pairwiseSalt } = config
  const { identityScopes, idTokenAlgorithm, claimsInIdToken, responseTypes } = settings
  if (!settings.openid) return [ok(CHECK, 'Other applications cannot sign people in here')]
  const scopes = ['openid', ...identityScopes].join(', ')
  const told = claimsInIdToken
    ? 'and contain the claims of the scopes'
    : 'but do not contain the claims of the scopes: clients that never call UserInfo, such as Auth.js, get no name'
  const missingSalt = clients
    .filter((client) => pairwiseSalt === null && client.settings.subject_type === 'pairwise')
    .map(({ name, id }) =>
      warning(
        CHECK,
        `${name} (${id}) has pairwise subjects, and is rejected without a salt`,
        'Set TOLLGATE_PAIRWISE_SALT to its former value: with another one people get new ids.',
      ),
    )
  return keepFindings(
    ok(CHECK, `Other applications can sign people in here, and may request ${scopes}`),
    ok(CHECK, `ID tokens are signed with ${idTokenAlgorithm}, ${told}`),
    responseTypes.length > 0 &&
      warning(
        CHECK,
        `The response types ${responseTypes.join(', ')} pass tokens through the browser`,
        'Authorization codes are safer (RFC 9700). Remove TOLLGATE_RESPONSE_TYPES, or responseTypes in the settings.',
      ),
    ...missingSalt.slice(0, MAX_FINDINGS),
    pairwiseSalt !== null && ok(CHECK, 'Clients may have pairwise subjects'),
  )
}

/** Warns of redirect URIs that could not be registered today. They keep working. */
function checkRedirects(clients: readonly Client[], issuer: string): Finding[] {
  const found = clients.flatMap(({ id, name, redirectUris }) =>
    redirectUris.flatMap((uri) => {
      const problem = findNewRedirectProblem(uri, issuer)
      return problem ? [`${name} (${id}): ${uri} ${problem}`] : []
    }),
  )
  if (found.length === 0)
    return [ok('redirects', 'All redirect URIs meet the current rules for registration')]
  const fix =
    'It keeps working, but could not be registered today. Change it on the page of the client or through the API.'
  const shown = found.slice(0, MAX_FINDINGS).map((text) => warning('redirects', text, fix))
  const rest = found.length - shown.length
  return rest > 0 ? [...shown, warning('redirects', `${rest} more like these`)] : shown
}
