import type { Tables } from '../../state/tables.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** An invoice had one payment and the payment one invoice; since basil invoice payments join them. */
export const invoicePayments: VersionChange = {
  since: '2025-03-31',
  name: 'invoice-payments',
  objects: {
    invoice(wire, tables) {
      const intent = tables.invoice.get(wire.id)?.$.paymentIntent ?? null
      wire.paid = wire.status === 'paid'
      wire.paid_out_of_band = Number(wire.amount_paid_off_stripe ?? 0) > 0
      wire.payment_intent = intent
      wire.charge = tables.payment_intent.get(intent ?? '')?.latest_charge ?? null
      wire.application_fee_amount = null
      wire.transfer_data = null
    },
    payment_intent(wire, tables) {
      wire.invoice = invoiceOf(wire.id, tables)
    },
    charge(wire, tables) {
      wire.invoice = invoiceOf(wire.payment_intent, tables)
    },
  },
  expandable: {
    invoice: ['payment_intent', 'charge'],
    payment_intent: ['invoice'],
    charge: ['invoice'],
  },
}

function invoiceOf(paymentIntent: unknown, tables: Tables): string | null {
  return tables.payment_intent.get(String(paymentIntent))?.$.invoice ?? null
}
