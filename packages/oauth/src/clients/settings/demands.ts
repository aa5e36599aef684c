import type { ServerContext } from '../../context.ts'
import { InvalidRequest, ValidationFailed } from '../../errors.ts'
import type { ClientDemand, ClientSettings } from '../../storage/client-settings.ts'

/** The settings by which a client relies on something. */
export const clientDemands: readonly ClientDemand[] = [
  'require_pushed_authorization_requests',
  'require_signed_request_object',
  'dpop_bound_access_tokens',
]

/** A client that relies on what nobody here does gets nothing, rather than less than it relies on. */
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

/** The same when a client is made, where it can still be put right. */
export function assertDemandsOffered(
  settings: ClientSettings,
  context: Pick<ServerContext, 'features'>,
): void {
  const unmet = findUnmet(settings, context)
  if (unmet === undefined) return
  throw new ValidationFailed({ settings: [`${unmet} is not offered: list the feature for it.`] })
}

/** A client whose tokens cannot be signed as it wants would get others than it can read. */
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
  return features.unmetDemands.find((name) => settings[name] === true)
}
