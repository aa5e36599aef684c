import { wentThrough } from '../sales/charging.ts'
import { readDescriptor } from '../sales/descriptor.ts'
import { checkSale, readSaleAmount } from '../sales/sale.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { Refused } from '../wire/errors.ts'
import type { Fields } from '../wire/validation.ts'
import { chargeSubscription, paidByHand } from './billing-cycle.ts'

const PATH = ['transaction']

/** The charge of a past due subscription that the merchant retries by hand. */
export function retryCharge(context: BraintreeContext, fields: Fields): TransactionRow {
  const errors = checkSale(fields)
  const row = context.tables.subscriptions.get(fields.text('subscription_id') ?? '')
  if (!row) errors.add(PATH, 'subscription_id', '91528')
  else if (row.status !== 'Past Due') errors.add(PATH, 'base', '91531')
  const token = fields.text('payment_method_token')
  if (row && token !== null && token !== row.paymentMethodToken) errors.add(PATH, 'base', '91527')
  const customerId = fields.text('customer_id')
  if (row && customerId !== null && customerId !== row.customerId) errors.add(PATH, 'base', '91529')
  const account = fields.text('merchant_account_id')
  if (row && account !== null && account !== row.merchantAccountId) {
    errors.add(PATH, 'base', '915180')
  }
  const given = row && !fields.isBlank('amount')
  const amount = given ? readSaleAmount(fields, row.currency, errors) : (row?.balance ?? 0)
  const descriptor = readDescriptor(fields, PATH, errors)
  if (!row || !errors.isEmpty) throw new Refused({ errors })
  const submitForSettlement = fields.object('options').flag('submit_for_settlement') ?? false
  const transaction = chargeSubscription(context, row, {
    amount,
    submitForSettlement,
    ...(descriptor ? { details: { descriptor } } : {}),
  })
  context.tables.subscriptions.set(row.id, row)
  if (wentThrough(transaction)) paidByHand(context, row, amount)
  return transaction
}
