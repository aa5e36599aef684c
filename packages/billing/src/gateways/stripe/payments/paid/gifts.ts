import type Stripe from 'stripe'
import { idOf, type StripeContext } from '../../sdk/client.ts'
import { isGift } from '../balance.ts'

/** An entry of a customer's balance. A positive amount is in the customer's favour. */
export interface Entry {
  readonly amount: number
  readonly isGift: boolean
  readonly invoice: string | null
}

/**
 * Computes how much of each invoice was paid by gifts, which are credit without a payment. The customer's own credit is used
 * first. Credit that an invoice returns to the balance is a gift again up to the amount that gifts had paid.
 * @param entries Oldest first.
 */
export function giftsByInvoice(entries: readonly Entry[]): Map<string, number> {
  const used = new Map<string, number>()
  let [own, gifts] = [0, 0]
  for (const { amount, isGift: isGiven, invoice } of entries) {
    const before = used.get(invoice ?? '') ?? 0
    if (amount > 0) {
      const given = isGiven ? amount : Math.min(amount, before)
      gifts += given
      own += amount - given
      if (!isGiven && invoice !== null) used.set(invoice, before - given)
      continue
    }
    const taken = Math.min(gifts, Math.max(0, -amount - Math.max(0, own)))
    gifts -= taken
    own += amount + taken
    if (invoice !== null) used.set(invoice, before + taken)
  }
  return used
}

export async function readGifts(
  { stripe }: StripeContext,
  customer: string,
): Promise<Map<string, number>> {
  const entries: Entry[] = []
  for await (const entry of stripe.customers.listBalanceTransactions(customer, { limit: 100 })) {
    entries.push(describe(entry))
  }
  return giftsByInvoice(entries.reverse())
}

function describe(entry: Stripe.CustomerBalanceTransaction): Entry {
  return { amount: -entry.amount, isGift: isGift(entry), invoice: idOf(entry.invoice) }
}
