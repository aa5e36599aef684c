import type { BraintreeContext } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { parsePermittedKeys, type RequestFields } from '../wire/validation.ts'
import { chargePaymentMethod, copyChargeFields } from './charging.ts'
import { readSaleAmount } from './sale.ts'

const KEYS = parsePermittedKeys('amount channel options')
const OPTIONS = parsePermittedKeys('submit_for_settlement')
const UNSUCCESSFUL = parsePermittedKeys('processor_declined gateway_rejected failed voided')

/** Creates a copy of a sale with another amount. Rejected for a sale with a stored card. */
export function cloneSale(
  context: BraintreeContext,
  row: TransactionRow,
  cloneFields: RequestFields,
): TransactionRow {
  // Braintree reports the errors of a clone under `transaction`.
  const fields = cloneFields.at('transaction')
  fields.permit(KEYS)
  const options = fields.object('options')
  options.permit(OPTIONS)
  if (row.type === 'credit') fields.refuse('base', '91543')
  if (row.instrument.kind === 'paypal_account') fields.refuse('base', '91573')
  if (row.token !== null) fields.refuse('base', '91540')
  if (UNSUCCESSFUL.has(row.status)) fields.refuse('base', '91542')
  const submitForSettlement = options.flag('submit_for_settlement')
  if (submitForSettlement === undefined) {
    options.refuse('submit_for_settlement', '91544')
  }
  const amount = readSaleAmount(fields, row.currency)
  fields.throwIfAny()
  return chargePaymentMethod(context, {
    ...copyChargeFields(row),
    amount,
    submitForSettlement: submitForSettlement ?? false,
    details: {
      orderId: row.orderId,
      channel: fields.text('channel') ?? row.channel,
      descriptor: row.descriptor,
      customFields: row.customFields,
      billing: row.billing ?? null,
      shipping: row.shipping ?? null,
    },
  })
}
