import type { BraintreeContext } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { ErrorCollector, refuse } from '../wire/errors.ts'
import { type Fields, permitted } from '../wire/validation.ts'
import { charge } from './charging.ts'
import { readSaleAmount } from './sale.ts'

const PATH = ['transaction']
const KEYS = permitted('amount channel options')
const OPTIONS = permitted('submit_for_settlement')
const UNSUCCESSFUL = permitted('processor_declined gateway_rejected failed voided')

/** The same sale once more, for another amount, to a card that is not in the vault. */
export function cloneSale(
  context: BraintreeContext,
  row: TransactionRow,
  fields: Fields,
): TransactionRow {
  fields.permit(KEYS)
  const options = fields.object('options')
  options.permit(OPTIONS)
  if (row.type === 'credit') refuse(PATH, 'base', '91543')
  if (row.instrument.kind === 'paypal_account') refuse(PATH, 'base', '91573')
  if (row.token !== null) refuse(PATH, 'base', '91540')
  if (UNSUCCESSFUL.has(row.status)) refuse(PATH, 'base', '91542')
  const submitForSettlement = options.flag('submit_for_settlement')
  if (submitForSettlement === undefined) {
    refuse([...PATH, 'options'], 'submit_for_settlement', '91544')
  }
  const errors = new ErrorCollector()
  const amount = readSaleAmount(fields, row.currency, errors)
  errors.throwIfAny()
  return charge(context, {
    amount,
    currency: row.currency,
    merchantAccountId: row.merchantAccountId,
    customer: row.customer,
    token: null,
    instrument: row.instrument,
    alwaysFailsWith: null,
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
