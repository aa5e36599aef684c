import type Stripe from 'stripe'
import { InvoicePaid } from '../../../errors.ts'
import type { InvoiceActions } from '../../contract/parts/money/invoice-actions.ts'
import { idOf, type StripeContext } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { completeInvoice, INVOICE_DETAILS } from './invoices.ts'

const CREDIT_PAYS =
  'Credit pays this invoice, and nobody is charged: give the credit back by a credit note once it is paid'

/** Of these, two are more than the least that Stripe charges, wherever the account is. */
const STRONG: ReadonlySet<string> = new Set([
  'usd',
  'eur',
  'gbp',
  'chf',
  'cad',
  'aud',
  'nzd',
  'sgd',
])

/** Invoices that are taken back before anybody has paid them. */
export function stripeInvoiceActions(context: StripeContext): {
  readonly invoiceActions: InvoiceActions
} {
  const { stripe } = context
  return {
    invoiceActions: {
      async void(id, customerId) {
        const before = await find(context, id)
        if (!before || idOf(before.customer) !== customerId) return null
        if (before.status === 'draft') {
          if (isSettledByCredit(before)) throw new InvoicePaid(CREDIT_PAYS)
          // Of a subscription no draft can be deleted.
          await finalize(context, id)
        }
        const isVoid = before.status === 'void' || (await voidInvoice(context, id))
        if (!isVoid) throw new InvoicePaid('The invoice is paid: give the money back instead')
        const invoice = await stripe.invoices.retrieve(id, { expand: INVOICE_DETAILS })
        return {
          invoice: await completeInvoice(context, invoice),
          subscription: idOf(invoice.parent?.subscription_details?.subscription),
        }
      },
    },
  }
}

async function find({ stripe }: StripeContext, id: string): Promise<Stripe.Invoice | null> {
  if (!/^in_\w{1,100}$/.test(id)) return null
  try {
    return await stripe.invoices.retrieve(id, { expand: ['customer'] })
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/**
 * Whether finalizing this draft would use up the customer's credit for good: Stripe gives back what an open invoice has used,
 * and calls one paid of which nothing is left, or too little to be charged. Rather yes than no.
 */
function isSettledByCredit({ total, currency, customer }: Stripe.Invoice): boolean {
  const balance = isPresent(customer) ? customer.balance : 0
  const due = total + balance
  if (due <= 0) return true
  return balance < 0 && !(STRONG.has(currency) && due >= 200)
}

function isPresent(customer: Stripe.Invoice['customer']): customer is Stripe.Customer {
  return typeof customer === 'object' && customer !== null && !('deleted' in customer)
}

/** Stripe may do it by itself at the same moment. */
export async function finalize({ stripe }: StripeContext, id: string): Promise<void> {
  try {
    await stripe.invoices.finalizeInvoice(id, { auto_advance: false })
  } catch (error) {
    const { status } = await stripe.invoices.retrieve(id)
    if (status === 'draft') throw error
  }
}

/**
 * Closes an invoice, and its payment with it; false when it was paid before that. Stripe decides in
 * one step, so of voiding and paying at the same time only one happens.
 */
export async function voidInvoice({ stripe }: StripeContext, id: string): Promise<boolean> {
  try {
    await stripe.invoices.voidInvoice(id)
    return true
  } catch (error) {
    const { status } = await stripe.invoices.retrieve(id)
    if (status === 'paid' || status === 'void') return status === 'void'
    throw error
  }
}
