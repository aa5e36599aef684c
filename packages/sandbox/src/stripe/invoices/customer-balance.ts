import { createBlankRow } from '../state/blank.ts'
import type { CustomerBalanceTransactionRow, CustomerRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'

/**
 * Changes a customer's balance by `amount` in minor units, and records the reason. A negative
 * amount is a credit to the customer.
 */
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
    ...createBlankRow('customer_balance_transaction'),
    id: work.newId('cbtxn_1'),
    amount,
    created: work.now,
    credit_note: reason.creditNote ?? null,
    currency: customer.currency,
    customer: customer.id,
    description: reason.description ?? null,
    ending_balance: customer.balance,
    invoice: reason.invoice ?? null,
    metadata: {},
    type: reason.type,
  })
}
