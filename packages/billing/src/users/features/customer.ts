import type { DriftReport } from '../../consistency/drift.ts'
import { withOwnerLock } from '../../consistency/owner-lock.ts'
import { syncUser } from '../../consistency/sync.ts'
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
  await withOwnerLock(context, user.id, (locked) =>
    ensureCustomer(context, locked, { provider, token, details }),
  )
  await user.user.reload()
}

export async function chooseProvider(user: UserScope, provider: ProviderName): Promise<void> {
  await choose(user.context, user.id, provider)
  await user.user.reload()
}

export async function sync(
  user: UserScope,
  options: { readonly dryRun?: boolean },
): Promise<DriftReport> {
  const report = await syncUser(user.context, user.user.record, options)
  await user.user.reload()
  return report
}

export async function readFromProvider(user: UserScope): Promise<unknown> {
  const { providerId } = user.user.record
  if (providerId === null) return null
  return (await (await user.gateway()).findCustomer(providerId))?.raw ?? null
}
