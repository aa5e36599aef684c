import { ValidationFailed } from '../../errors.ts'
import type { ClientSettings, ConfigurableClientSettings } from '../../storage/client-settings.ts'
import {
  authMethods,
  checkAlgorithm,
  checkFlag,
  checkHttps,
  checkHttpsOrLocal,
  checkKeySet,
  checkListOf,
  checkOneOf,
  checkOrigin,
  checkRedirect,
  checkSeconds,
  checkText,
  checkWebPage,
  type SettingCheck,
} from './checks.ts'

type Checks = { readonly [name in keyof ConfigurableClientSettings]-?: SettingCheck }

function createChecks(issuer: string): Checks {
  return {
    token_endpoint_auth_method: checkOneOf(authMethods),
    token_endpoint_auth_signing_alg: checkAlgorithm,
    jwks: checkKeySet,
    jwks_uri: checkHttps,
    access_token_signed_response_alg: checkAlgorithm,
    id_token_signed_response_alg: checkAlgorithm,
    userinfo_signed_response_alg: checkAlgorithm,
    introspection_signed_response_alg: checkAlgorithm,
    request_object_signing_alg: checkAlgorithm,
    require_signed_request_object: checkFlag,
    request_uris: checkListOf(checkHttps),
    subject_type: checkOneOf(['public', 'pairwise']),
    sector_identifier_uri: checkHttps,
    default_max_age: checkSeconds,
    require_auth_time: checkFlag,
    claims_in_id_token: checkFlag,
    default_acr_values: checkListOf(checkText),
    post_logout_redirect_uris: checkListOf(checkRedirect(issuer)),
    backchannel_logout_uri: checkHttpsOrLocal,
    backchannel_logout_session_required: checkFlag,
    require_pushed_authorization_requests: checkFlag,
    dpop_bound_access_tokens: checkFlag,
    response_types: checkListOf(checkText),
    application_type: checkOneOf(['web', 'native']),
    client_uri: checkWebPage,
    logo_uri: checkHttps,
    policy_uri: checkHttps,
    tos_uri: checkHttps,
    contacts: checkListOf(checkText, 10),
    allowed_origins: checkListOf(checkOrigin),
  }
}

/** Parsed client settings, and the problems found in them. */
export interface ParsedClientSettings {
  readonly settings: ConfigurableClientSettings
  readonly problems: readonly string[]
  /** Names of the given members that are not client settings. */
  readonly others: readonly string[]
}

/**
 * Parses client settings and collects problems instead of throwing. Members with the value `null`
 * count as absent (RFC 7592 §2.2).
 */
export function readSettings(
  rawSettings: Readonly<Record<string, unknown>>,
  issuer: string,
): ParsedClientSettings {
  const checks: Readonly<Record<string, SettingCheck>> = createChecks(issuer)
  const members = Object.entries(rawSettings).filter(
    ([, value]) => value !== undefined && value !== null,
  )
  const known = members.filter(([name]) => Object.hasOwn(checks, name))
  const wrong = known.flatMap(([name, value]) => {
    const problem = checks[name]?.(value) ?? null
    return problem === null ? [] : [`${name} ${problem}`]
  })
  const settings: ConfigurableClientSettings = Object.fromEntries(known)
  return {
    settings,
    problems: wrong.length > 0 ? wrong : findContradictions(settings),
    others: members.map(([name]) => name).filter((name) => !Object.hasOwn(checks, name)),
  }
}

function findContradictions({
  jwks,
  jwks_uri,
  token_endpoint_auth_method,
}: ConfigurableClientSettings): string[] {
  const problems: string[] = []
  // RFC 7591 §2.
  if (jwks && jwks_uri !== undefined) problems.push('jwks and jwks_uri cannot be combined')
  const needsKeys = token_endpoint_auth_method === 'private_key_jwt'
  if (needsKeys && !jwks && jwks_uri === undefined) {
    problems.push('private_key_jwt needs jwks or jwks_uri')
  }
  return problems
}

/**
 * Parses the settings of a client that the application creates. Unknown setting names are rejected,
 * because they are probably typing mistakes.
 * @throws ValidationFailed if a setting is invalid or unknown
 */
export function parseSettings(
  requestedSettings: object,
  issuer: string,
): ConfigurableClientSettings {
  const { settings, problems, others } = readSettings({ ...requestedSettings }, issuer)
  const unknown = others.map((name) => `${name} is not a client setting`)
  const all = [...problems, ...unknown]
  if (all.length > 0) throw new ValidationFailed({ settings: all.map((text) => `${text}.`) })
  return settings
}

/**
 * Decides whether a client is confidential: by `requestedConfidential` if given, otherwise by its
 * authentication method. Without either, the client is confidential. If a method is set, it must be
 * `none` for public clients and any other method for confidential clients.
 * @throws ValidationFailed if the method contradicts `confidential`
 */
export function parseConfidential(
  requestedConfidential: boolean | undefined,
  settings: ClientSettings,
): boolean {
  const method = settings.token_endpoint_auth_method
  const implied = method === undefined ? true : method !== 'none'
  const confidential = requestedConfidential ?? implied
  if (method !== undefined && confidential !== implied) {
    const kind = confidential ? 'confidential' : 'public'
    throw new ValidationFailed({
      settings: [`token_endpoint_auth_method ${method} is not allowed for ${kind} clients.`],
    })
  }
  return confidential
}
