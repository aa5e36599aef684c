import type { BillingContext } from '../../core/context.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import type { CardSummary } from '../../core/values/card.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { DefaultHandler } from '../webhooks/default-handler.ts'

/**
 * Stores the customer's default card in the owner's row. All changes of an existing customer's card
 * go through this function. If billing counts the usage at this provider, a different card also
 * makes declined usage charges due again. This happens in the same transaction, because afterwards
 * the row no longer shows that the card has changed.
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
  const isNew = hasPaymentMethodSummary(card) && !(before && isSameCard(card, before))
  const rows = isCountedByUs && isNew ? await subscriptions.listByOwner(owner) : []
  const theirs = rows.filter((each) => each.provider === provider).map(({ id }) => id)
  await lock.write(async (tx) => {
    await owners.setCard(owner, card, tx)
    await usage.makeDue(provider, theirs, tx)
  })
}

export function isSameCard(a: CardSummary, b: CardSummary): boolean {
  return (
    a.cardBrand === b.cardBrand &&
    a.cardLastFour === b.cardLastFour &&
    a.paypalEmail === b.paypalEmail &&
    (a.cardExpires ?? null) === (b.cardExpires ?? null)
  )
}

function hasPaymentMethodSummary({ cardBrand, cardLastFour, paypalEmail }: CardSummary): boolean {
  return cardBrand !== null || cardLastFour !== null || paypalEmail !== null
}

/**
 * Handles provider webhooks about cards, by updating the default card stored in the owner's row.
 */
export const handleCardEvent: DefaultHandler = async (context, { locked, gateway, subject }) => {
  if (!subject.cardChanged || !subject.customerId) return
  const customer = await gateway.findCustomer(subject.customerId)
  if (!customer) return
  await setBilledCard(context, locked, gateway.name, customer.card)
}
