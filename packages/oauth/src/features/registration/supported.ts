import type { OwnSettings } from '../../clients/settings/parse-settings.ts'
import { InvalidClientMetadata } from '../../errors.ts'
import type { ClientAuthMethod } from '../../storage/client-settings.ts'
import type { Offered } from './offered.ts'

/** What a client chooses, and where the metadata of the server says from what. */
const CHOICES: Readonly<Partial<Record<keyof OwnSettings, string>>> = {
  id_token_signed_response_alg: 'id_token_signing_alg_values_supported',
  userinfo_signed_response_alg: 'userinfo_signing_alg_values_supported',
  introspection_signed_response_alg: 'introspection_signing_alg_values_supported',
  request_object_signing_alg: 'request_object_signing_alg_values_supported',
  subject_type: 'subject_types_supported',
}

/** What a client relies on: where it is not offered, it is refused. */
const DEMANDS: Readonly<Partial<Record<keyof OwnSettings, string>>> = {
  require_signed_request_object: 'request_parameter_supported',
  require_pushed_authorization_requests: 'pushed_authorization_request_endpoint',
  dpop_bound_access_tokens: 'dpop_signing_alg_values_supported',
}

/** What is of no use without another feature: left out where that is off. */
const USEFUL_WITH: Readonly<Partial<Record<keyof OwnSettings, string>>> = {
  request_uris: 'request_uri_parameter_supported',
  sector_identifier_uri: 'subject_types_supported',
  default_acr_values: 'subject_types_supported',
  require_auth_time: 'subject_types_supported',
  post_logout_redirect_uris: 'end_session_endpoint',
  backchannel_logout_uri: 'backchannel_logout_supported',
  backchannel_logout_session_required: 'backchannel_logout_supported',
}

/** The settings that mean something on this server. What it cannot do though the client counts on it is an error. */
export function keepOffered(
  settings: OwnSettings,
  usualMethod: ClientAuthMethod,
  offered: Offered,
): OwnSettings {
  assertAuthentication({ token_endpoint_auth_method: usualMethod, ...settings }, offered)
  // Which format and algorithm an API reads is not for a stranger to say.
  const dropped = new Set<string>(['access_token_signed_response_alg'])
  for (const [name, value] of Object.entries(settings)) {
    const member = name as keyof OwnSettings
    const choice = CHOICES[member]
    const choices = choice === undefined ? undefined : offered.list(choice)
    if (choice !== undefined && choices === undefined) dropped.add(name)
    if (choices && !choices.includes(String(value))) {
      throw new InvalidClientMetadata(`${name} must be one of ${choices.join(', ')}`)
    }
    const demand = DEMANDS[member]
    if (demand !== undefined && value === true && !offered.has(demand)) {
      throw new InvalidClientMetadata(`${name} is not offered here`)
    }
    const companion = USEFUL_WITH[member]
    if (companion !== undefined && !offered.has(companion)) dropped.add(name)
  }
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !dropped.has(name)))
}

function assertAuthentication(
  { token_endpoint_auth_method: method, token_endpoint_auth_signing_alg: algorithm }: OwnSettings,
  { methods, authAlgorithms }: Offered,
): void {
  if (method !== undefined && !methods.includes(method)) {
    throw new InvalidClientMetadata(
      `token_endpoint_auth_method must be one of ${methods.join(', ')}`,
    )
  }
  if (algorithm === undefined) return
  // HMAC is for shared secrets, the others are for keys.
  const fitting = authAlgorithms.filter(
    (name) => name.startsWith('HS') === (method === 'client_secret_jwt'),
  )
  if (!fitting.includes(algorithm)) {
    throw new InvalidClientMetadata(
      `token_endpoint_auth_signing_alg must be one of ${fitting.join(', ')}`,
    )
  }
}
