import type { ServerContext } from '../../context.ts'
import { InvalidRequest, ValidationFailed } from '../../errors.ts'
import type { ClientDemand, ClientSettings } from '../../storage/client-settings.ts'

/** The settings that require a feature. */
export const clientDemands: readonly ClientDemand[] = [
  'require_pushed_authorization_requests',
  'require_signed_request_object',
  'dpop_bound_access_tokens',
]

/**
 * Rejects requests of a client that relies on a feature the server does not have, instead of
 * serving it with less protection.
 * @throws InvalidRequest if a required feature is missing
 */
export function assertDemandsMet(
  { settings }: { readonly settings: ClientSettings },
  context: Pick<ServerContext, 'features'>,
): void {
  const unmet = findUnmet(settings, context)
  if (unmet === undefined) return
  throw new InvalidRequest(`This client has ${unmet}, which this server does not offer`, {
    hint: 'List the feature for it in features, or take the setting off the client',
  })
}

/**
 * Checks on registration that the server has the features the client requires.
 * @throws ValidationFailed if one is missing
 */
export function assertDemandsOffered(
  settings: ClientSettings,
  context: Pick<ServerContext, 'features'>,
): void {
  const unmet = findUnmet(settings, context)
  if (unmet === undefined) return
  throw new ValidationFailed({ settings: [`${unmet} is not offered: list the feature for it.`] })
}

/**
 * Checks on registration that the server can sign access tokens with the client's algorithm.
 * @throws ValidationFailed if it cannot
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

function findUnmet(
  settings: ClientSettings,
  { features }: Pick<ServerContext, 'features'>,
): ClientDemand | undefined {
  return features.unenforcedSettings.find((name) => settings[name] === true)
}
