import type { BillingContext } from '../../context.ts'
import type { ProviderName } from '../../provider-name.ts'
import type { Owner } from '../../values/owner.ts'

/** Another card is billed from now on: what was declined is charged again. By whoever no longer holds the owner's lock. */
export async function chargeOtherCard(
  { options, subscriptions, usage }: BillingContext,
  owner: Owner,
  provider: ProviderName,
): Promise<void> {
  if (options.providers.find(provider)?.usageCountedBy !== 'us') return
  const all = await subscriptions.listByOwner(owner)
  const theirs = all.filter((each) => each.provider === provider)
  await usage.lookAgain(
    provider,
    theirs.map(({ id }) => id),
  )
}
