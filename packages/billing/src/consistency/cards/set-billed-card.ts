import type { BillingContext } from '../../context.ts'
import type { ProviderName } from '../../provider-name.ts'
import type { CardSummary } from '../../values/card.ts'
import type { LockedOwner } from '../owner-lock.ts'

/**
 * Another card is billed from now on. Where we count usage, what was declined is due in the same transaction: whoever finds
 * the card in the row later does not know that it was another one.
 */
export async function setBilledCard(
  { options, owners, subscriptions, usage }: BillingContext,
  { owner, lock }: LockedOwner,
  provider: ProviderName,
  card: CardSummary,
): Promise<void> {
  const isCountedByUs = options.providers.find(provider)?.usageCountedBy === 'us'
  const rows = isCountedByUs ? await subscriptions.listByOwner(owner) : []
  const theirs = rows.filter((each) => each.provider === provider).map(({ id }) => id)
  await lock.write(async (tx) => {
    await owners.setCard(owner, card, tx)
    await usage.makeDue(provider, theirs, tx)
  })
}
