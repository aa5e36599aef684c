import type { BillingContext } from '../context.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { ProviderName } from '../provider-name.ts'
import type { DatedTaxTerms } from '../storage/taxes.ts'
import { type BasisPoints, removeTax } from '../values/tax.ts'
import type { LockedOwner } from './owner-lock.ts'

/**
 * Remembers the tax inside a price, where the provider keeps the price alone: an invoice shows the rate
 * it was charged with, and another rate does not change what the plan costs without it.
 */
export async function keepTax(
  context: BillingContext,
  { lock }: LockedOwner,
  provider: ProviderName,
  terms: {
    /** As it is now, with that tax in its price. */
    readonly found: ProviderSubscription
    readonly tax: BasisPoints
    /** Its newest charge before the change; all later ones have the new tax. */
    readonly lastChargeAt: Date | null
    readonly net?: number | undefined
  },
): Promise<void> {
  const { found, tax, lastChargeAt } = terms
  if (found.taxedPrice === null) return
  const saved: DatedTaxTerms = {
    provider,
    subscriptionId: found.id,
    // By the provider's own clock.
    since: new Date(lastChargeAt === null ? 0 : lastChargeAt.getTime() + 1),
    tax,
    net: terms.net ?? removeTax(found.taxedPrice, tax),
  }
  await lock.write((tx) => context.taxes.save(saved, tx))
}

/** The tax of a subscription's charge at that moment; today's where none is on record. */
export function taxAt(
  all: readonly DatedTaxTerms[],
  today: BasisPoints,
): (subscriptionId: string, at: Date) => BasisPoints {
  return (subscriptionId, at) => {
    const own = all.filter((each) => each.subscriptionId === subscriptionId)
    return own.filter(({ since }) => since <= at).at(-1)?.tax ?? today
  }
}
