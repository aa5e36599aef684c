import type { Database } from '@tollgate/database'
import { type Client, type ClientDemand, kyselyStorage } from '@tollgate/oauth'
import type { Config } from '../../config/config.ts'
import type { Settings } from '../../config/settings.ts'
import { type Finding, ok, warning } from './finding.ts'
import { checkIdentity } from './identity.ts'

const MOST_SHOWN = 20

/** What the settings offer beside OAuth 2.0, what of it is risky, and which clients it leaves outside. */
export async function checkStandards(config: Config, database: Database): Promise<Finding[]> {
  const all = await kyselyStorage(database).clients.list()
  const clients = all.filter(({ revokedAt }) => revokedAt === null)
  return [
    ...checkRegistration(config),
    ...checkOutgoing(config.settings),
    ...(config.mode === 'production' ? checkGrants(config.settings, clients) : []),
    ...checkRequests(config.settings, clients),
    ...checkProfile(config.settings, clients),
    ...checkIdentity(config, clients),
    ...explainRest(config.settings),
  ]
}

/** Who comes without anybody here knowing of it. */
function checkRegistration({ mode, selfRegistered }: Config): Finding[] {
  const { policy, documents, scopes, resources, initialAccessTokens } = selfRegistered
  const check = 'registration'
  if (policy === 'closed' && !documents) return [ok(check, 'No client can register itself')]
  const findings: Finding[] = []
  if (policy === 'initial-access-token') {
    const tokens = initialAccessTokens.length === 1 ? 'the' : `one of ${initialAccessTokens.length}`
    findings.push(ok(check, `Whoever has ${tokens} initial access token may register a client`))
  }
  if (policy === 'open' && mode === 'demo') {
    findings.push(ok(check, 'Every program that reaches this demo may register a client'))
  }
  if (policy === 'open' && mode === 'production') {
    const fix =
      'Right where any agent may come. Otherwise set TOLLGATE_CLIENT_REGISTRATION to closed or initial-access-token.'
    findings.push(warning(check, 'Everybody may register a client', fix))
  }
  if (documents) {
    const where = documents === true ? 'any host' : documents.join(', ')
    findings.push(ok(check, `Clients may be described by a document on ${where}`))
  }
  if (scopes.length === 0) {
    const fix = 'Name in selfRegistered.scopes what strangers may ask people for.'
    findings.push(
      warning(check, 'No scope is marked for clients that register themselves: they get none', fix),
    )
  } else {
    const where = resources === null ? '/api and all resources' : resources.join(', ')
    findings.push(ok(check, `They may ask people for ${scopes.join(', ')}, at ${where}`))
  }
  return findings
}

function checkOutgoing({ outgoing }: Settings): Finding[] {
  const { privateAddresses } = outgoing
  if (privateAddresses.length === 0) return []
  const fix =
    'Only for tests and for clients inside: else drop TOLLGATE_PRIVATE_ADDRESSES, or outgoing.privateAddresses in the settings.'
  const what = `Clients can make the service ask ${privateAddresses.join(', ')}, which is not public`
  return [warning('outgoing', what, fix)]
}

const ADVISED_AGAINST = [
  { grant: 'password', setting: 'passwordGrant', variable: 'TOLLGATE_PASSWORD_GRANT' },
  { grant: 'implicit', setting: 'implicitGrant', variable: 'TOLLGATE_IMPLICIT_GRANT' },
] as const

/** Current practice (RFC 9700) advises against these: where nobody uses them, nobody misses them. */
function checkGrants(settings: Settings, clients: readonly Client[]): Finding[] {
  return ADVISED_AGAINST.filter(({ setting }) => settings[setting]).map(({ grant, variable }) => {
    const users = clients.filter(({ grantTypes }) => grantTypes.includes(grant))
    if (users.length > 0) return ok('grants', `The ${grant} grant is used by ${count(users)}`)
    return warning('grants', `The ${grant} grant is on, and no client uses it`, `${variable}=off`)
  })
}

const DEMANDS: ReadonlyArray<
  readonly [ClientDemand, 'pushedRequests' | 'requestObjects' | 'dpop']
> = [
  ['require_pushed_authorization_requests', 'pushedRequests'],
  ['require_signed_request_object', 'requestObjects'],
  ['dpop_bound_access_tokens', 'dpop'],
]

/** How requests are made safe, and who does not get in by it. */
function checkRequests(settings: Settings, clients: readonly Client[]): Finding[] {
  const { pushedRequests, requestObjects, dpop, dpopNonces, dpopGuardReplays } = settings
  const state = (value: boolean | 'required') =>
    value === 'required' ? 'is required' : value ? 'is offered' : 'is off'
  const nonces = dpopNonces && dpop ? ', with nonces' : ''
  const replays =
    dpop && dpopGuardReplays === 'process' ? '; each process takes a proof at /api once' : ''
  const findings = [
    ok('requests', `Pushing them ${state(pushedRequests)}, signing them ${state(requestObjects)}`),
    ok('requests', `Binding tokens to a key (DPoP) ${state(dpop)}${nonces}${replays}`),
  ]
  if (requestObjects && settings.requestObjectsByReference) {
    const what = 'Signed requests may lie at an address of the client: the service fetches them'
    findings.push(ok('requests', what))
  }
  if (requestObjects && settings.unsignedRequestObjects) {
    const fix =
      'They protect nothing. Set TOLLGATE_UNSIGNED_REQUEST_OBJECTS=off unless a client needs them.'
    findings.push(warning('requests', 'Request objects are taken without a signature', fix))
  }
  if (dpopNonces && !dpop) {
    findings.push(warning('requests', 'dpopNonces does nothing while dpop is off'))
  }
  const unsigned = clients.filter(cannotSign)
  if (requestObjects === 'required' && unsigned.length > 0) {
    const fix = 'Give them jwks or jwks_uri, or set requestObjects to true.'
    const what = `${count(unsigned)} cannot sign requests, and nothing else is taken`
    findings.push(warning('requests', what, fix))
  }
  const outside = DEMANDS.filter(([, setting]) => !settings[setting]).flatMap(([demand, setting]) =>
    clients
      .filter((client) => client.settings[demand] === true)
      .map(({ name, id }) => {
        const what = `${name} (${id}) has ${demand}, and is refused while ${setting} is off`
        return warning('requests', what, `Set ${setting} to true.`)
      }),
  )
  return [...findings, ...outside.slice(0, MOST_SHOWN)]
}

/** Who does not get in by FAPI 2.0. */
function checkProfile({ fapi2 }: Settings, clients: readonly Client[]): Finding[] {
  if (!fapi2) return []
  const held = ok('clients', 'Every client is held to the FAPI 2.0 Security Profile')
  const outside = clients.filter(
    ({ grantTypes, settings: { token_endpoint_auth_method: method } }) =>
      method !== 'private_key_jwt' && !grantTypes.includes('personal_access'),
  )
  if (outside.length === 0) return [held]
  const fix =
    'Register each of them anew with token_endpoint_auth_method=private_key_jwt and its keys.'
  return [held, warning('clients', `${count(outside)} without a key are refused by it`, fix)]
}

function cannotSign({ grantTypes, settings: { jwks, jwks_uri } }: Client): boolean {
  return grantTypes.includes('authorization_code') && !jwks && jwks_uri === undefined
}

function explainRest(settings: Settings): Finding[] {
  const { signingAlgorithm, tokenType, clientAssertions } = settings
  const lines: ReadonlyArray<readonly [boolean, string, string]> = [
    [true, 'tokens', `Access tokens are signed with ${signingAlgorithm}; typ is ${tokenType}`],
    [settings.stepUp, 'tokens', 'They say when and how people had signed in'],
    [settings.signedIntrospection, 'tokens', 'APIs may have introspection as a JWT'],
    [settings.cors, 'cors', 'Pages of registered clients may call from other origins, /api too'],
    [clientAssertions !== false, 'clients', 'They may prove themselves by a key'],
    [
      clientAssertions === 'shared-secrets',
      'clients',
      'Secrets for client_secret_jwt are stored sealed, and can be opened with TOLLGATE_SECRET',
    ],
  ]
  return lines.filter(([isOn]) => isOn).map(([, check, message]) => ok(check, message))
}

function count(clients: readonly Client[]): string {
  return clients.length === 1 ? '1 client' : `${clients.length} clients`
}
