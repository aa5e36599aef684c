import type { DriftReport } from '../../consistency/drift.ts'
import { withOwnerLock } from '../../consistency/owner-lock.ts'
import { syncOwner } from '../../consistency/sync.ts'
import { chooseProvider as choose } from '../../customers/choose-provider.ts'
import { ensureCustomer } from '../../customers/customer.ts'
import type { CustomerDetails } from '../../gateways/contract/customer.ts'
import type { ProviderName } from '../../provider-name.ts'
import { requireText } from '../../values/arguments.ts'
import type { UserScope } from '../user-scope.ts'

export async function updateCard(
  user: UserScope,
  token: string,
  details: CustomerDetails,
): Promise<void> {
  requireText('card token', token)
  const { context, provider } = user
  await withOwnerLock(context, user.owner, (locked) =>
    ensureCustomer(context, locked, { provider, token, details }),
  )
  await user.user.reload()
}

export async function chooseProvider(user: UserScope, provider: ProviderName): Promise<void> {
  await choose(user.context, user.owner, provider)
  await user.user.reload()
}

export async function sync(
  user: UserScope,
  options: { readonly dryRun?: boolean },
): Promise<DriftReport> {
  const report = await syncOwner(user.context, user.owner, options)
  await user.user.reload()
  return report
}

export async function readFromProvider(user: UserScope): Promise<unknown> {
  const { providerId } = user.user.record
  if (providerId === null) return null
  return (await (await user.gateway()).findCustomer(providerId))?.raw ?? null
}
