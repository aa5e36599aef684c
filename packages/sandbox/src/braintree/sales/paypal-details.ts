import type { PayPalSale } from '../state/rows/transactions.ts'
import { type Fields, permitted } from '../wire/validation.ts'

const ACCOUNT_KEYS = permitted(
  'custom_field email payee_email payee_id payer_id payment_id paypal_data token',
)
const OPTION_KEYS = permitted(
  `custom_field description payee_email payee_id recipient_email recipient_phone shipping
   supplementary_data`,
)

/** Who is paid and what PayPal shows; a call says it in one of three places, or not at all. */
export function readPayPalSale(fields: Fields): { paypal?: PayPalSale } {
  const account = fields.object('paypal_account')
  account.permit(ACCOUNT_KEYS)
  const options = fields.object('options')
  const paypal = options.object('paypal')
  paypal.permit(OPTION_KEYS)
  const first = (key: string) => paypal.text(key) ?? options.text(key) ?? account.text(key)
  const said: PayPalSale = {
    payeeId: first('payee_id'),
    payeeEmail: first('payee_email'),
    customField: paypal.text('custom_field') ?? account.text('custom_field'),
    description: paypal.text('description'),
  }
  return Object.values(said).some((part) => part !== null) ? { paypal: said } : {}
}
