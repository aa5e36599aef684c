import { NoCustomer } from '../../core/errors/errors.ts'
import { money } from '../../core/values/money.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import type { Stripe } from '../../providers/sdk-types.ts'
import {
  getReferencedId,
  listAll,
  type StripeContext,
  toDate,
} from '../../providers/stripe/client.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import type { NewBalanceEntry, ProviderBalanceEntry } from './contract.ts'

/**
 * Implements customer balances for Stripe, with the sign reversed: Stripe counts debt as positive,
 * we count credit as positive.
 */
export function createStripeBalance(context: StripeContext): Pick<GatewayParts, 'balance'> {
  const { stripe } = context
  return {
    balance: {
      async read(customerId) {
        const customer = await stripe.customers.retrieve(customerId)
        if (customer.deleted) throw new NoCustomer('The customer was deleted')
        return money(reverseSign(customer.balance), customer.currency ?? context.currency)
      },
      async list(customerId, limit) {
        const query = { limit: Math.min(limit ?? 100, 100) }
        const listed = stripe.customers.listBalanceTransactions(customerId, query)
        return (await listAll(listed, limit)).map(describe)
      },
      findByKey: (customerId, key) => findByKey(context, customerId, key),
      add: (customerId, entry) => add(context, customerId, entry),
    },
  }
}

async function findByKey(
  { stripe }: StripeContext,
  customerId: string,
  key: string,
): Promise<ProviderBalanceEntry | null> {
  const all = stripe.customers.listBalanceTransactions(customerId, { limit: 100 })
  for await (const entry of all) {
    if (entry.metadata?.tollgate_key === key) return describe(entry)
  }
  return null
}

function add(
  context: StripeContext,
  customerId: string,
  { amount, description, isGift, key }: NewBalanceEntry,
): Promise<ProviderBalanceEntry> {
  const params: Stripe.CustomerCreateBalanceTransactionParams = {
    amount: reverseSign(amount.amount),
    currency: amount.currency,
    ...(description === null ? {} : { description }),
    metadata: { tollgate_key: key, ...(isGift ? { kind: GIFT } : {}) },
  }
  return createIdempotently(
    `${key}:balance`,
    async (request) =>
      describe(
        await context.stripe.customers.createBalanceTransaction(customerId, params, request),
      ),
    () => findByKey(context, customerId, key),
  )
}

const GIFT = 'gift'

/** Whether the credit is a gift: the merchant granted it, and the customer has not paid for it. */
export function isGiftBalanceEntry({ metadata }: Stripe.CustomerBalanceTransaction): boolean {
  return metadata?.kind === GIFT
}

function describe(entry: Stripe.CustomerBalanceTransaction): ProviderBalanceEntry {
  const { id, amount, currency, ending_balance, description, created } = entry
  return {
    id,
    amount: money(reverseSign(amount), currency),
    balance: money(reverseSign(ending_balance), currency),
    description,
    isGift: isGiftBalanceEntry(entry),
    invoice: getReferencedId(entry.invoice),
    createdAt: toDate(created),
    raw: entry,
  }
}

/** Avoids -0, which equals 0 and yet fails strict comparisons. */
function reverseSign(amount: number): number {
  return amount === 0 ? 0 : -amount
}
