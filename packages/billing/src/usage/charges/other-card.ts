import type { DriftReport, SyncOptions } from '../../consistency/drift.ts'
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

/** The same for cards that were changed at the provider: Braintree sends no webhook of that, so a sync finds them. */
export async function chargeFoundCards(
  context: BillingContext,
  { drift }: DriftReport,
  { dryRun = false }: SyncOptions,
): Promise<void> {
  if (dryRun) return
  for (const { what, owner, provider } of drift) {
    if (what === 'card') await chargeOtherCard(context, owner, provider)
  }
}
