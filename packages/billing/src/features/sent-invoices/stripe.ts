import type Stripe from 'stripe'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import { rejectReservedOptions } from '../../providers/overrides.ts'
import { getReferencedId, type StripeContext } from '../../providers/stripe/client.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import { INVOICE_EXPAND_PARAM, readCompleteInvoice } from '../invoices/stripe.ts'
import { findOrCreateInvoice, RESERVED_PARAMS } from '../invoices/stripe-single-invoices.ts'

/** Metadata that marks an invoice as sent, because Stripe does not report whether it was. */
const SENT = { tollgate_sent: 'true' }

export function createStripeSentInvoices(
  context: StripeContext,
): Pick<GatewayParts, 'sentInvoices'> {
  const { invoices } = context.stripe
  const retrieve = (id: string) => invoices.retrieve(id, { expand: INVOICE_EXPAND_PARAM })

  /**
   * Sends the invoice. A retry within a day uses the same idempotency key, so the customer gets one
   * e-mail.
   */
  async function sendOnce({ id, status, metadata }: Stripe.Invoice): Promise<void> {
    if (status !== 'open' || metadata?.tollgate_sent !== undefined) return
    await createIdempotently(
      `${id}:send`,
      (request) => invoices.sendInvoice(id, undefined, request),
      async () => null,
    )
    await invoices.update(id, { metadata: SENT })
  }

  return {
    sentInvoices: {
      async send({ customerId, item, daysUntilDue, key, more: given }) {
        const { automaticTax = false, ...options } = given
        rejectReservedOptions(options, [
          ...RESERVED_PARAMS,
          'collection_method',
          'days_until_due',
          'due_date',
        ])
        const invoice = await findOrCreateInvoice(context, {
          customer: customerId,
          item,
          key,
          // Stripe does not collect the payment: the customer pays, or markPaid() records the
          // payment.
          voidOnFailure: true,
          more: {
            ...(automaticTax ? { automatic_tax: { enabled: true } } : {}),
            ...options,
            collection_method: 'send_invoice',
            days_until_due: daysUntilDue,
          },
        })
        await sendOnce(invoice)
        return readCompleteInvoice(context, await retrieve(invoice.id))
      },
      async markPaid(id, customerId) {
        const before = await find(id)
        if (!before || getReferencedId(before.customer) !== customerId) return null
        if (before.status !== 'paid') await payElsewhere(id)
        const invoice = await retrieve(id)
        const subscription = getReferencedId(invoice.parent?.subscription_details?.subscription)
        return { invoice: await readCompleteInvoice(context, invoice), subscription, failure: null }
      },
    },
  }

  async function find(id: string): Promise<Stripe.Invoice | null> {
    if (!/^in_\w{1,100}$/.test(id)) return null
    try {
      return await invoices.retrieve(id)
    } catch (error) {
      if (isMissingObjectError(error)) return null
      throw error
    }
  }

  /**
   * Marks an invoice as paid outside Stripe. The customer may pay by card at the same moment:
   * Stripe accepts only one of the two payments.
   */
  async function payElsewhere(id: string): Promise<void> {
    try {
      await invoices.pay(id, { paid_out_of_band: true })
    } catch (error) {
      const { status } = await invoices.retrieve(id)
      if (status !== 'paid') throw error
    }
  }
}
