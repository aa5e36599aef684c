import { openPortal, type PortalOptions } from '../../pages/open-portal.ts'
import type { UserHaving } from '../user-scope.ts'

export async function billingPortal(
  user: UserHaving<'portal'>,
  options: PortalOptions,
): Promise<{ readonly url: string }> {
  const { context, provider } = user
  const visitor = { owner: user.owner, provider, customerId: await user.requireCustomerId() }
  return openPortal(context, visitor, options)
}
