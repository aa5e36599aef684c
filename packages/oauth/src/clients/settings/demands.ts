import type { ServerContext } from '../../context.ts'
import { InvalidRequest, ValidationFailed } from '../../errors.ts'
import type { ClientRequirement, ClientSettings } from '../../storage/client-settings.ts'

/**
 * Client settings that take effect only if the server has the matching feature, such as `dpop()`.
 */
export const clientRequirements: readonly ClientRequirement[] = [
  'require_pushed_authorization_requests',
  'require_signed_request_object',
  'dpop_bound_access_tokens',
]

/**
 * Rejects the request of a client whose settings require a feature that the server does not have.
 * Serving the client without it would give less protection than the client relies on.
 * @throws InvalidRequest if a required feature is missing
 */
export function assertClientRequirementsMet(
  { settings }: { readonly settings: ClientSettings },
  context: Pick<ServerContext, 'features'>,
): void {
  const unmet = findUnmetRequirement(settings, context)
  if (unmet === undefined) return
  throw new InvalidRequest(
    `This client has the setting ${unmet}, which this server does not support`,
    {
      hint: 'Add its feature to the option features, or remove the setting from the client',
    },
  )
}

/**
 * Checks on registration that the server has the features that the client's settings require.
 * @throws ValidationFailed if a required feature is missing
 */
export function assertClientRequirementsOffered(
  settings: ClientSettings,
  context: Pick<ServerContext, 'features'>,
): void {
  const unmet = findUnmetRequirement(settings, context)
  if (unmet === undefined) return
  throw new ValidationFailed({
    settings: [`${unmet} is not supported by this server: add its feature to the option features.`],
  })
}

/**
 * Checks on registration that the server can sign access tokens with the algorithm in the client's
 * setting `access_token_signed_response_alg`.
 * @throws ValidationFailed if the server does not use that algorithm
 */
export function assertAlgorithmOffered(
  { access_token_signed_response_alg: wished }: ClientSettings,
  { keys }: Pick<ServerContext, 'keys'>,
): void {
  const offered = [...keys.algorithms]
  if (wished === undefined || offered.some((name) => name === wished)) return
  throw new ValidationFailed({
    settings: [`access_token_signed_response_alg must be one of ${offered.join(', ')}.`],
  })
}

function findUnmetRequirement(
  settings: ClientSettings,
  { features }: Pick<ServerContext, 'features'>,
): ClientRequirement | undefined {
  return features.unenforcedSettings.find((name) => settings[name] === true)
}
