import { findMerchant } from '../story/merchants.ts'
import type { CustomerRef, ObservedSandbox } from '../story/observed-sandbox.ts'

export interface PaymentMethodSummary {
  readonly id: string
  /** Text that names the payment method, such as `visa •••• 4242`. */
  readonly label: string
  /**
   * Additional information about the payment method, such as that it is the default. `null` if
   * there is none.
   */
  readonly note: string | null
}

export function findPaymentMethods(
  sandbox: ObservedSandbox,
  customerRef: CustomerRef,
): PaymentMethodSummary[] {
  return customerRef.provider === 'stripe'
    ? listStripeMethods(sandbox, customerRef.id)
    : listBraintreeMethods(sandbox, customerRef)
}

function listStripeMethods({ stripe }: ObservedSandbox, customer: string): PaymentMethodSummary[] {
  if (!stripe) return []
  const { tables } = stripe.context
  const preferred = tables.customer.get(customer)?.invoice_settings.default_payment_method
  return tables.payment_method.findBy('customer', customer).map((row) => {
    const { card } = row
    const label = card ? `${card.brand} •••• ${card.last4}` : row.type
    const expiry = card ? `expires ${card.exp_month}/${card.exp_year}` : null
    const notes = [row.id === preferred ? 'default' : null, expiry].filter((note) => note !== null)
    return { id: row.id, label, note: notes.join(', ') || null }
  })
}

function listBraintreeMethods(
  sandbox: ObservedSandbox,
  { merchant, id }: CustomerRef,
): PaymentMethodSummary[] {
  const tables = findMerchant(sandbox, merchant)?.context.tables
  const rows = tables?.paymentMethods.findBy('customer', id) ?? []
  return rows.map(({ token, instrument, isDefault, alwaysFailsWith }) => {
    const label =
      instrument.kind === 'credit_card'
        ? `${instrument.card.cardType} •••• ${instrument.card.last4}`
        : `PayPal ${instrument.paypal.email}`
    const fails = alwaysFailsWith === null ? null : `always fails with ${alwaysFailsWith}`
    const notes = [isDefault ? 'default' : null, fails].filter((note) => note !== null)
    return { id: token, label, note: notes.join(', ') || null }
  })
}
