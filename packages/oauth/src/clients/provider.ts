import type { ServerContext } from '../context.ts'
import { ValidationFailed } from '../errors.ts'

/**
 * Checks the user provider of a client, which the password grant needs if there are several.
 * @throws ValidationFailed if the provider does not exist, or is needed but missing
 */
export function assertProviderNamed(
  provider: string | undefined,
  grantTypes: readonly string[],
  { providers: { all, find } }: Pick<ServerContext, 'providers'>,
): void {
  const several = all.some(({ name }) => name !== null)
  if (provider !== undefined && !find(provider)) {
    throw new ValidationFailed({ provider: [`There is no user provider '${provider}'.`] })
  }
  if (several && provider === undefined && grantTypes.includes('password')) {
    throw new ValidationFailed({
      provider: ['The password grant needs the name of a user provider.'],
    })
  }
}
