import { withOwnerLock } from '../../consistency/owner-lock.ts'
import type { DriftReport } from '../../consistency/sync/drift.ts'
import { syncOwner } from '../../consistency/sync/sync-owner.ts'
import { chooseProvider as choose } from '../../customers/choose-provider.ts'
import { ensureCustomer } from '../../customers/customer.ts'
import { describedByRow } from '../../customers/described-by-row.ts'
import { requireLanguage } from '../../customers/require-language.ts'
import { requireOwner } from '../../customers/require-owner.ts'
import { transferCustomer } from '../../customers/transfer.ts'
import { isBillingError } from '../../error-codes.ts'
import type { CustomerDetails } from '../../gateways/contract/customer.ts'
import type { ChangedDetails } from '../../gateways/contract/parts/money/customer-details.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import type { ProviderName } from '../../provider-name.ts'
import { requireText } from '../../values/arguments.ts'
import type { Owner } from '../../values/owner.ts'
import type { UserHaving, UserScope } from '../user-scope.ts'
import { withPresentCustomer } from '../with-customer.ts'

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
  context.usage.wake(provider)
}

export async function updateCustomer(
  user: UserHaving<'customerDetails'>,
  details: ChangedDetails,
): Promise<void> {
  requireLanguage(user.context, user.provider, details)
  await withPresentCustomer(user, (locked, customerId) =>
    locked.change(user.provider, (gateway) =>
      requirePart(gateway, 'customerDetails').set(customerId, details),
    ),
  )
}

/** Reads the row under the lock: of two who change it, the later one wins at the provider, too. */
export async function syncCustomerDetails(user: UserHaving<'customerDetails'>): Promise<void> {
  const { context, owner } = user
  await withOwnerLock(context, owner, async (locked) => {
    const billed = await requireOwner(context, owner)
    const { provider, providerId } = billed
    if (provider === null || providerId === null) return
    try {
      await locked.change(provider, (gateway) =>
        requirePart(gateway, 'customerDetails').set(providerId, describedByRow(context, billed)),
      )
    } catch (error) {
      // Who was deleted there is described anew with the next card.
      if (!isBillingError(error, 'no_customer')) throw error
    }
  })
}

export async function chooseProvider(user: UserScope, provider: ProviderName): Promise<void> {
  await choose(user.context, user.owner, provider)
  await user.user.reload()
}

export async function transferTo(user: UserScope, to: Owner): Promise<void> {
  await transferCustomer(user.context, user.owner, to)
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
  const providerId = await user.findCustomerId()
  if (providerId === null) return null
  return (await (await user.gateway()).findCustomer(providerId))?.raw ?? null
}
