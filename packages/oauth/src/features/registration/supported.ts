import { listOfferedAuthMethods } from '../../clients/authentication-methods.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidClientMetadata } from '../../errors.ts'
import type { ClientAuthMethod, ConfigurableClientSettings } from '../../storage/client-settings.ts'

/**
 * Settings with which a client chooses a value, mapped to the server metadata member that lists the
 * possible values.
 */
const VALUES_OF_SETTING: Readonly<Partial<Record<keyof ConfigurableClientSettings, string>>> = {
  id_token_signed_response_alg: 'id_token_signing_alg_values_supported',
  userinfo_signed_response_alg: 'userinfo_signing_alg_values_supported',
  introspection_signed_response_alg: 'introspection_signing_alg_values_supported',
  request_object_signing_alg: 'request_object_signing_alg_values_supported',
  subject_type: 'subject_types_supported',
}

/**
 * Settings that the client relies on, mapped to the metadata member of the feature that they need.
 * They are rejected if the feature is off.
 */
const REQUIRED_FEATURE_OF_SETTING: Readonly<
  Partial<Record<keyof ConfigurableClientSettings, string>>
> = {
  require_signed_request_object: 'request_parameter_supported',
  require_pushed_authorization_requests: 'pushed_authorization_request_endpoint',
  dpop_bound_access_tokens: 'dpop_signing_alg_values_supported',
}

/**
 * Settings that have no effect without a feature, mapped to the metadata member of that feature.
 * They are dropped if the feature is off.
 */
const FEATURE_OF_SETTING: Readonly<Partial<Record<keyof ConfigurableClientSettings, string>>> = {
  request_uris: 'request_uri_parameter_supported',
  sector_identifier_uri: 'subject_types_supported',
  default_acr_values: 'subject_types_supported',
  require_auth_time: 'subject_types_supported',
  post_logout_redirect_uris: 'end_session_endpoint',
  backchannel_logout_uri: 'backchannel_logout_supported',
  backchannel_logout_session_required: 'backchannel_logout_supported',
}

/**
 * Returns the client settings that this server supports. Drops settings without effect on this
 * server, and those that clients may not choose on registration.
 * @throws InvalidClientMetadata for a setting that the client relies on but this server cannot
 * fulfil
 */
export function keepSupportedSettings(
  settings: ConfigurableClientSettings,
  defaultMethod: ClientAuthMethod,
  offered: SupportedMetadata,
): ConfigurableClientSettings {
  assertAuthentication({ token_endpoint_auth_method: defaultMethod, ...settings }, offered)
  // A stranger must not choose the format and algorithm that an API has to read.
  const dropped = new Set<string>(['access_token_signed_response_alg'])
  for (const [name, value] of Object.entries(settings)) {
    const member = name as keyof ConfigurableClientSettings
    const choice = VALUES_OF_SETTING[member]
    const choices = choice === undefined ? undefined : offered.list(choice)
    if (choice !== undefined && choices === undefined) dropped.add(name)
    if (choices && !choices.includes(String(value))) {
      throw new InvalidClientMetadata(`${name} must be one of ${choices.join(', ')}`)
    }
    const demand = REQUIRED_FEATURE_OF_SETTING[member]
    if (demand !== undefined && value === true && !offered.has(demand)) {
      throw new InvalidClientMetadata(`${name} is not supported by this server`)
    }
    const companion = FEATURE_OF_SETTING[member]
    if (companion !== undefined && !offered.has(companion)) dropped.add(name)
  }
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !dropped.has(name)))
}

function assertAuthentication(
  {
    token_endpoint_auth_method: method,
    token_endpoint_auth_signing_alg: algorithm,
  }: ConfigurableClientSettings,
  { methods, authAlgorithms }: SupportedMetadata,
): void {
  if (method !== undefined && !methods.includes(method)) {
    throw new InvalidClientMetadata(
      `token_endpoint_auth_method must be one of ${methods.join(', ')}`,
    )
  }
  if (algorithm === undefined) return
  // HMAC algorithms are for shared secrets, all others for keys.
  const fitting = authAlgorithms.filter(
    (name) => name.startsWith('HS') === (method === 'client_secret_jwt'),
  )
  if (!fitting.includes(algorithm)) {
    throw new InvalidClientMetadata(
      `token_endpoint_auth_signing_alg must be one of ${fitting.join(', ')}`,
    )
  }
}

/** Options that clients can choose from, by names of the server's metadata. */
interface SupportedMetadata {
  readonly methods: readonly string[]
  readonly authAlgorithms: readonly string[]
  /** Returns the values of a metadata member. `undefined` if no feature provides it. */
  list(name: string): readonly string[] | undefined
  has(name: string): boolean
}

/**
 * Returns the values that this server supports for client settings, such as signing algorithms.
 * Reads them from the server's own metadata, so that both always agree.
 */
export function readSupportedSettings(context: ServerContext): SupportedMetadata {
  const { all, authenticators, exclusiveAuthentication } = context.features
  const parts = all.map((feature) => feature.metadata?.(context) ?? {})
  const memberOf = (name: string) => parts.map((part) => part[name]).find(Boolean)
  return {
    methods: [
      ...new Set([
        ...listOfferedAuthMethods(context),
        ...(exclusiveAuthentication ? [] : ['none']),
      ]),
    ],
    authAlgorithms: authenticators.flatMap(({ algorithms }) => algorithms ?? []),
    list(name) {
      const value = memberOf(name)
      return Array.isArray(value) ? value : undefined
    },
    has: (name) => memberOf(name) !== undefined,
  }
}
