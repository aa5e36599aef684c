import { randomUUID } from 'node:crypto'
import type Stripe from 'stripe'
import { PaymentActionRequired } from '../../errors.ts'
import { type Amount, type Money, money } from '../../money.ts'
import type { ChargeOptions, Gateway } from '../gateway.ts'
import type { StripeContext } from './client.ts'
import { requireMethod } from './customers.ts'
import { completeInvoice } from './invoices.ts'

type Charges = Pick<Gateway, 'toMoney' | 'charge' | 'invoiceFor'>

export function stripeCharges(context: StripeContext): Charges {
  const { stripe } = context
  return {
    toMoney: (amount: Amount): Money =>
      typeof amount === 'number' ? money(amount, context.currency) : amount,

    async charge(customer, { amount, currency }, options) {
      const { idempotencyKey = randomUUID(), ...more } = options
      const params = more as Partial<Stripe.PaymentIntentCreateParams>
      const intent = await stripe.paymentIntents.create(
        {
          amount,
          currency,
          customer,
          confirm: true,
          off_session: true,
          payment_method: params.payment_method ?? (await requireMethod(context, customer)),
          ...params,
        },
        { idempotencyKey: `${idempotencyKey}:charge` },
      )
      if (intent.status === 'requires_action' && intent.client_secret) {
        throw new PaymentActionRequired('The customer must confirm the payment', {
          provider: 'stripe',
          providerCode: 'requires_action',
          payment: { id: intent.id, clientSecret: intent.client_secret },
        })
      }
      return intent
    },

    async invoiceFor(customer, item, options) {
      const { idempotencyKey = randomUUID(), voidOnFailure, ...more } = options
      const { currency } = item.amount
      const key = stepKeys(idempotencyKey)
      // Excluding what is pending: a proration waiting for the next renewal is not swept along.
      const draft = await stripe.invoices.create(
        {
          ...(more as Stripe.InvoiceCreateParams),
          customer,
          currency,
          auto_advance: false,
          pending_invoice_items_behavior: 'exclude',
        },
        key('invoice'),
      )
      await stripe.invoiceItems.create(
        {
          customer,
          invoice: draft.id,
          amount: item.amount.amount,
          currency,
          description: item.description,
        },
        key('item'),
      )
      // From here Stripe goes on trying to collect it, as it does for any open invoice.
      await stripe.invoices.finalizeInvoice(draft.id, { auto_advance: true }, key('finalize'))
      try {
        const paid = await payOnce(context, draft.id, key('pay'))
        return await completeInvoice(context, paid)
      } catch (error) {
        if (voidOnFailure) await stripe.invoices.voidInvoice(draft.id, undefined, key('void'))
        throw error
      }
    },
  }
}

function stepKeys(key: ChargeOptions['idempotencyKey']) {
  return (step: string): Stripe.RequestOptions => ({ idempotencyKey: `${key}:${step}` })
}

/** A repeat finds the invoice paid: paying it again is an error at Stripe, and none here. */
async function payOnce(
  { stripe }: StripeContext,
  id: string,
  key: Stripe.RequestOptions,
): Promise<Stripe.Invoice> {
  const invoice = await stripe.invoices.retrieve(id)
  if (invoice.status === 'paid') return invoice
  return stripe.invoices.pay(id, { off_session: true }, key)
}
