import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import { type Operations, op } from '../api/operation.ts'
import { render } from '../state/render.ts'
import type { BalanceTransactionRow, CustomerRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, noSuch } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { nulls } from '../wire/wire.ts'
import { requireCustomer } from './customers.ts'

export const customerBalance: Operations = {
  'Customers.createBalanceTransaction': op<Stripe.CustomerCreateBalanceTransactionParams>(
    (params, call) => {
      const { work } = call
      const customer = requireCustomer(work, call.ids[0] ?? '')
      const currency = params.currency.toLowerCase()
      if (customer.currency && customer.currency !== currency) {
        throw invalidRequest(
          `The customer's balance is in ${customer.currency}; it cannot be changed in ${currency}.`,
          'currency',
        )
      }
      const row = adjustBalance(work, customer, params.amount, {
        type: 'adjustment',
        description: params.description ?? null,
        currency,
      })
      row.metadata = mergeMetadata({}, params.metadata)
      return render('customer_balance_transaction', row, work.tables)
    },
  ),
  'Customers.listBalanceTransactions': op<Stripe.CustomerListBalanceTransactionsParams>(
    (params, { work, ids, path }) => {
      const customer = requireCustomer(work, ids[0] ?? '')
      const rows = work.findBy('customer_balance_transaction', 'customer', customer.id).reverse()
      return listPage(rows, params, path, (row) =>
        render('customer_balance_transaction', row, work.tables),
      )
    },
  ),
  'Customers.retrieveBalanceTransaction': op((_params, { work, ids }) => {
    const row = requireTransaction(work, ids)
    return render('customer_balance_transaction', row, work.tables)
  }),
  'Customers.updateBalanceTransaction': op<Stripe.CustomerUpdateBalanceTransactionParams>(
    (params, { work, ids }) => {
      const row = work.edit('customer_balance_transaction', requireTransaction(work, ids))
      if (params.description !== undefined) row.description = params.description || null
      row.metadata = mergeMetadata(row.metadata, params.metadata)
      return render('customer_balance_transaction', row, work.tables)
    },
  ),
}

function requireTransaction(work: UnitOfWork, ids: readonly string[]): BalanceTransactionRow {
  const [customer = '', id = ''] = ids
  const row = work.require('customer_balance_transaction', id)
  if (row.customer !== customer) throw noSuch('customer balance transaction', id)
  return row
}

/** Moves the balance by `amount` (negative is credit for the customer) and writes down why. */
export function adjustBalance(
  work: UnitOfWork,
  customer: CustomerRow,
  amount: number,
  reason: {
    type: BalanceTransactionRow['type']
    invoice?: string
    description?: string | null
    currency?: string
  },
): BalanceTransactionRow {
  work.edit('customer', customer)
  customer.balance += amount
  customer.currency ??= reason.currency ?? 'usd'
  return work.insert('customer_balance_transaction', {
    ...nulls<Stripe.CustomerBalanceTransaction>('customer_balance_transaction'),
    id: work.newId('cbtxn_1'),
    object: 'customer_balance_transaction',
    amount,
    created: work.now,
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
