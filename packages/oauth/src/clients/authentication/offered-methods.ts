import type { ServerContext } from '../../context.ts'
import { ValidationFailed } from '../../errors.ts'
import type { ClientAuthMethod, ClientSettings } from '../../storage/client-settings.ts'
import { secretMethods } from './secret-methods.ts'

/** By a secret, and what features bring; or what one of them allows alone. */
export function offeredMethods({
  features: { authenticators, soleAuthenticator },
}: Pick<ServerContext, 'features'>): readonly ClientAuthMethod[] {
  if (soleAuthenticator) return soleAuthenticator.methods
  return [...new Set([...secretMethods, ...authenticators.flatMap((each) => each.methods)])]
}

/** A client that proves itself as nobody here can read would never get in. */
export function assertMethodOffered(
  { token_endpoint_auth_method: method }: ClientSettings,
  context: Pick<ServerContext, 'features'>,
): void {
  const { soleAuthenticator } = context.features
  if (soleAuthenticator) {
    if (method !== undefined && soleAuthenticator.methods.includes(method)) return
    const names = soleAuthenticator.methods.join(' or ')
    throw new ValidationFailed({
      settings: [`token_endpoint_auth_method must be ${names}: this server takes no other.`],
    })
  }
  if (method === undefined || method === 'none' || offeredMethods(context).includes(method)) return
  throw new ValidationFailed({
    settings: [`token_endpoint_auth_method ${method} is not offered: list the feature for it.`],
  })
}
