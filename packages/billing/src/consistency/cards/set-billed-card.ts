import type { BillingContext } from '../../context.ts'
import type { ProviderName } from '../../provider-name.ts'
import type { CardSummary } from '../../values/card.ts'
import type { LockedOwner } from '../owner-lock.ts'

/**
 * This is the card that is billed from now on: nothing else writes it for a customer who is there. Where we count usage and it
 * is another card than before, what was declined is due in the same transaction: whoever finds the card in the row later does
 * not know that it was another one.
 */
export async function setBilledCard(
  { options, owners, subscriptions, usage }: BillingContext,
  { owner, lock }: LockedOwner,
  provider: ProviderName,
  card: CardSummary,
  /** `isOther`: it was just given, and may look like the one before. */
  { isOther = false }: { readonly isOther?: boolean } = {},
): Promise<void> {
  const isCountedByUs = options.providers.find(provider)?.usageCountedBy === 'us'
  const before = isCountedByUs && !isOther ? await owners.find(owner) : null
  const isNew = isThere(card) && !(before && sameCard(card, before))
  const rows = isCountedByUs && isNew ? await subscriptions.listByOwner(owner) : []
  const theirs = rows.filter((each) => each.provider === provider).map(({ id }) => id)
  await lock.write(async (tx) => {
    await owners.setCard(owner, card, tx)
    await usage.makeDue(provider, theirs, tx)
  })
}

export function sameCard(a: CardSummary, b: CardSummary): boolean {
  return (
    a.cardBrand === b.cardBrand &&
    a.cardLastFour === b.cardLastFour &&
    a.paypalEmail === b.paypalEmail &&
    (a.cardExpires ?? null) === (b.cardExpires ?? null)
  )
}

function isThere({ cardBrand, cardLastFour, paypalEmail }: CardSummary): boolean {
  return cardBrand !== null || cardLastFour !== null || paypalEmail !== null
}
