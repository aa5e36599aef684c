import type { BillingContext } from '../../core/context.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import type { CardSummary } from '../../core/values/card.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { DefaultHandler } from '../webhooks/default-handler.ts'

/**
 * Stores the default card in the owner's row. All code uses this function for existing customers.
 * Where we count usage, a different card makes declined usage charges due in the same transaction:
 * later, the row no longer shows that the card has changed.
 */
export async function setBilledCard(
  { options, owners, subscriptions, usage }: BillingContext,
  { owner, lock }: LockedOwner,
  provider: ProviderName,
  card: CardSummary,
  /**
   * `isOther`: the customer has just entered the card, so it counts as a new one even if it looks
   * the same.
   */
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

/** Updates the stored card when the provider reports a change. */
export const card: DefaultHandler = async (context, { locked, gateway, subject }) => {
  if (!subject.cardChanged || !subject.customerId) return
  const customer = await gateway.findCustomer(subject.customerId)
  if (!customer) return
  await setBilledCard(context, locked, gateway.name, customer.card)
}
