import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import { type Operations, op } from '../api/operation.ts'
import { adjustBalance } from '../invoices/customer-balance.ts'
import { requireCustomer } from '../payments/customer.ts'
import { render } from '../state/render.ts'
import type { CustomerBalanceTransactionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, noSuch } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'

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

function requireTransaction(
  work: UnitOfWork,
  ids: readonly string[],
): CustomerBalanceTransactionRow {
  const [customer = '', id = ''] = ids
  const row = work.require('customer_balance_transaction', id)
  if (row.customer !== customer) throw noSuch('customer balance transaction', id)
  return row
}
