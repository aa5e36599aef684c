import { isApprovedTransaction } from '../sales/charging.ts'
import { readDescriptor } from '../sales/descriptor.ts'
import { checkSale, readSaleAmount } from '../sales/sale.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import type { RequestFields } from '../wire/validation.ts'
import { chargeSubscription, recordManualPayment } from './billing-cycle.ts'

/** Charges a past due subscription because the merchant called `retryCharge`. */
export function retryCharge(context: BraintreeContext, fields: RequestFields): TransactionRow {
  checkSale(fields)
  const row = context.tables.subscriptions.get(fields.text('subscription_id') ?? '')
  if (!row) fields.addError('subscription_id', '91528')
  else if (row.status !== 'Past Due') fields.addError('base', '91531')
  const token = fields.text('payment_method_token')
  if (row && token !== null && token !== row.paymentMethodToken) fields.addError('base', '91527')
  const customerId = fields.text('customer_id')
  if (row && customerId !== null && customerId !== row.customerId) fields.addError('base', '91529')
  const account = fields.text('merchant_account_id')
  if (row && account !== null && account !== row.merchantAccountId) {
    fields.addError('base', '915180')
  }
  const given = row && !fields.isBlank('amount')
  const amount = given ? readSaleAmount(fields, row.currency) : (row?.balance ?? 0)
  const descriptor = readDescriptor(fields)
  if (!row || !fields.errors.isEmpty) throw fields.refusal()
  const submitForSettlement = fields.object('options').flag('submit_for_settlement') ?? false
  const transaction = chargeSubscription(context, row, {
    amount,
    submitForSettlement,
    ...(descriptor ? { details: { descriptor } } : {}),
  })
  context.tables.subscriptions.set(row.id, row)
  if (isApprovedTransaction(transaction)) recordManualPayment(context, row, amount)
  return transaction
}
