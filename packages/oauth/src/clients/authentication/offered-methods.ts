import type { ServerContext } from '../../context.ts'
import { ValidationFailed } from '../../errors.ts'
import type { ClientAuthMethod, ClientSettings } from '../../storage/client-settings.ts'
import { secretMethods } from './secret-methods.ts'

/** By a secret, and what features bring. */
export function offeredMethods({
  features,
}: Pick<ServerContext, 'features'>): readonly ClientAuthMethod[] {
  return [
    ...new Set([...secretMethods, ...features.authenticators.flatMap((each) => each.methods)]),
  ]
}

/** A client that proves itself as nobody here can read would never get in. */
export function assertMethodOffered(
  { token_endpoint_auth_method: method }: ClientSettings,
  context: Pick<ServerContext, 'features'>,
): void {
  if (method === undefined || method === 'none' || offeredMethods(context).includes(method)) return
  throw new ValidationFailed({
    settings: [`token_endpoint_auth_method ${method} is not offered: list the feature for it.`],
  })
}
