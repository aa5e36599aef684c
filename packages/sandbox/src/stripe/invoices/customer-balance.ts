import type Stripe from 'stripe'
import type { CustomerBalanceTransactionRow, CustomerRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { nulls } from '../wire/wire.ts'

/** Moves the balance by `amount` (negative is credit for the customer) and writes down why. */
export function adjustBalance(
  work: UnitOfWork,
  customer: CustomerRow,
  amount: number,
  reason: {
    type: CustomerBalanceTransactionRow['type']
    creditNote?: string
    invoice?: string
    description?: string | null
    currency?: string
  },
): CustomerBalanceTransactionRow {
  work.edit('customer', customer)
  customer.balance += amount
  customer.currency ??= reason.currency ?? 'usd'
  return work.insert('customer_balance_transaction', {
    ...nulls<Stripe.CustomerBalanceTransaction>('customer_balance_transaction'),
    id: work.newId('cbtxn_1'),
    object: 'customer_balance_transaction',
    amount,
    created: work.now,
    credit_note: reason.creditNote ?? null,
    currency: customer.currency,
    customer: customer.id,
    description: reason.description ?? null,
    ending_balance: customer.balance,
    invoice: reason.invoice ?? null,
    livemode: false,
    metadata: {},
    type: reason.type,
  })
}
