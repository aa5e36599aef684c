import type { StripeOperations } from '../api/operation.ts'
import { customOperation, listRows } from '../api/resource.ts'
import { adjustBalance } from '../invoices/customer-balance.ts'
import { requireCustomer } from '../payments/customer.ts'
import type { CustomerBalanceTransactionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, createNoSuchObjectFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'

export const customerBalanceOperations: StripeOperations = {
  'Customers.createBalanceTransaction': customOperation(
    'customer_balance_transaction',
    (params, { work, id }) => {
      const customer = requireCustomer(work, id)
      const currency = params.currency.toLowerCase()
      if (customer.currency && customer.currency !== currency) {
        throw createInvalidRequestFault(
          `The customer's balance is in ${customer.currency}; it cannot be changed in ${currency}.`,
          'currency',
        )
      }
      const { amount, description = null } = params
      const reason = { type: 'adjustment' as const, description, currency }
      const row = adjustBalance(work, customer, amount, reason)
      row.metadata = mergeMetadata({}, params.metadata)
      return row
    },
  ),
  'Customers.listBalanceTransactions': (params, call) => {
    const { id: customer } = requireCustomer(call.work, call.id)
    return listRows('customer_balance_transaction', { ...params, customer }, call, {
      by: ['customer'],
    })
  },
  'Customers.retrieveBalanceTransaction': customOperation(
    'customer_balance_transaction',
    (_params, { work, ids }) => requireTransaction(work, ids),
  ),
  'Customers.updateBalanceTransaction': customOperation(
    'customer_balance_transaction',
    (params, { work, ids }) => {
      const row = work.edit('customer_balance_transaction', requireTransaction(work, ids))
      Object.assign(row, pickSentFields(params, 'description'))
      row.metadata = mergeMetadata(row.metadata, params.metadata)
      return row
    },
  ),
}

function requireTransaction(
  work: UnitOfWork,
  ids: readonly string[],
): CustomerBalanceTransactionRow {
  const [customer = '', id = ''] = ids
  const row = work.require('customer_balance_transaction', id)
  if (row.customer !== customer) throw createNoSuchObjectFault('customer balance transaction', id)
  return row
}
