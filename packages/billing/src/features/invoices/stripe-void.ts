import type Stripe from 'stripe'
import { InvoicePaid } from '../../core/errors/errors.ts'
import { getReferencedId, type StripeContext } from '../../providers/stripe/client.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import type { InvoiceActions } from './contract.ts'
import { INVOICE_EXPAND_PARAM, readCompleteInvoice } from './stripe.ts'

const CREDIT_PAYS =
  'Customer credit pays this invoice, so nothing is charged: return the credit with a credit note once it is paid'

/**
 * Currencies in which an amount of 2.00 is above the minimum that Stripe charges, in every country.
 */
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

/** Implements voiding unpaid invoices for Stripe. */
export function createStripeInvoiceActions(context: StripeContext): {
  readonly invoiceActions: InvoiceActions
} {
  const { stripe } = context
  return {
    invoiceActions: {
      async void(id, customerId) {
        const before = await find(context, id)
        if (!before || getReferencedId(before.customer) !== customerId) return null
        if (before.status === 'draft') {
          if (isSettledByCredit(before)) throw new InvoicePaid(CREDIT_PAYS)
          // A subscription's draft cannot be deleted, only finalized and voided.
          await finalizeDraft(context, id)
        }
        const isVoid = before.status === 'void' || (await voidInvoice(context, id))
        if (!isVoid) throw new InvoicePaid('The invoice is paid: refund it instead')
        const invoice = await stripe.invoices.retrieve(id, { expand: INVOICE_EXPAND_PARAM })
        return {
          invoice: await readCompleteInvoice(context, invoice),
          subscription: getReferencedId(invoice.parent?.subscription_details?.subscription),
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
    if (isMissingObjectError(error)) return null
    throw error
  }
}

/**
 * Whether finalizing this draft would spend the customer's credit for good. Stripe returns the
 * credit of a voided open invoice, but marks an invoice as paid if nothing is left to charge, or
 * too little. In doubt `true`.
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

/** Finalizes a draft invoice. Does nothing if Stripe has finalized it by itself in the meantime. */
export async function finalizeDraft({ stripe }: StripeContext, id: string): Promise<void> {
  try {
    await stripe.invoices.finalizeInvoice(id, { auto_advance: false })
  } catch (error) {
    const { status } = await stripe.invoices.retrieve(id)
    if (status === 'draft') throw error
  }
}

/**
 * Voids an invoice and its payment. Returns `false` if the invoice was paid before. Stripe decides
 * atomically: an invoice that is voided and paid at the same moment ends up as one or the other.
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
