import { isBillingError } from '../../core/errors/error-codes.ts'
import { PaymentActionRequired, PaymentFailed } from '../../core/errors/payment-errors.ts'
import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import type { Gateway } from '../../providers/gateway.ts'
import type { Stripe } from '../../providers/sdk-types.ts'
import {
  getReferencedId,
  nullIfMissing,
  type StripeContext,
} from '../../providers/stripe/client.ts'
import { retrieveSubscription } from '../../providers/stripe/describe-subscription.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { cancelNow } from '../cancel/stripe.ts'
import { requireDefaultMethod } from '../customers/stripe.ts'
import { voidInvoice } from '../invoices/stripe-void.ts'
import { findInvoicePayment } from '../payments/stripe.ts'
import type { PaymentConfirmations } from './contract.ts'
import { voidAbandonedInvoices } from './stripe-abandoned-invoices.ts'
import { restorePreviousTaxes } from './stripe-pending-update.ts'

const UNPAID: readonly string[] = ['incomplete', 'past_due', 'unpaid']

/** Statuses of a payment that can arrive without another attempt. */
const MAY_SUCCEED: readonly string[] = ['requires_action', 'processing', 'succeeded']

/**
 * Implements payments that wait for the customer's authentication for Stripe, including the first
 * payment of an incomplete subscription.
 */
export function createStripeConfirmations(context: StripeContext): Pick<Gateway, 'requirePaid'> & {
  readonly confirmations: PaymentConfirmations
} {
  return {
    requirePaid: (subscription) => requirePaid(context, subscription),
    confirmations: {
      find: (id) => findPendingConfirmation(context, id),
      findOfInvoice: (id, customerId) => findInvoiceConfirmation(context, id, customerId),
      list: (customerId) => listPendingConfirmations(context, customerId),

      async isAwaiting({ raw }, customerId) {
        const invoiceId = getReferencedId((raw as Stripe.Subscription).latest_invoice)
        if (invoiceId === null) return false
        const payment = await findInvoicePayment(context, invoiceId)
        if (!payment || !MAY_SUCCEED.includes(payment.status)) return false
        return (
          getReferencedId(payment.payment_method) ===
          (await requireDefaultMethod(context, customerId))
        )
      },

      async abandon({ id, raw }) {
        const invoiceId = getReferencedId((raw as Stripe.Subscription).latest_invoice)
        // Cancelling alone would leave an open invoice, which the customer could still pay.
        const isClosed = invoiceId === null || (await voidInvoice(context, invoiceId))
        if (isClosed) await cancelNow(context, id)
      },

      async undoLapsedChange(id) {
        await restorePreviousTaxes(context, await retrieveSubscription(context.stripe, id))
      },

      closeUnpaid: ({ raw }) => voidAbandonedInvoices(context, raw as Stripe.Subscription),
    },
  }
}

/**
 * Throws the reason why a subscription is not paid: the customer has to authenticate, or the card
 * was declined.
 */
async function requirePaid(
  { stripe }: StripeContext,
  { raw }: ProviderSubscription,
): Promise<void> {
  const invoiceId = findUnpaidInvoiceId(raw as Stripe.Subscription)
  if (invoiceId !== null) await throwIfUnpaid(stripe, invoiceId)
}

/** Returns the unpaid invoice of the subscription, or of its pending update. */
function findUnpaidInvoiceId(subscription: Stripe.Subscription): string | null {
  const isUnpaid = subscription.pending_update || UNPAID.includes(subscription.status)
  return isUnpaid ? getReferencedId(subscription.latest_invoice) : null
}

async function findPendingConfirmation(
  { stripe }: StripeContext,
  id: string,
): Promise<PendingConfirmation | null> {
  const subscription = await stripe.subscriptions.retrieve(id, { expand: ['pending_setup_intent'] })
  const invoiceId = findUnpaidInvoiceId(subscription)
  if (invoiceId !== null) {
    const payment = await findUnconfirmed(stripe, invoiceId)
    if (payment) return payment
  }
  return findPendingSetup(subscription)
}

/** Returns the setup for the card to charge after a trial. The setup must be expanded. */
function findPendingSetup(subscription: Stripe.Subscription): PendingConfirmation | null {
  const setup = subscription.status === 'trialing' ? subscription.pending_setup_intent : null
  if (setup === null || typeof setup === 'string') return null
  const { id, client_secret: clientSecret, status } = setup
  const isAsked = status === 'requires_action' && clientSecret !== null
  return isAsked ? { kind: 'setup', id, clientSecret } : null
}

async function findInvoiceConfirmation(
  { stripe }: StripeContext,
  id: string,
  customerId: string,
): Promise<PendingConfirmation | null> {
  if (!/^in_\w{1,100}$/.test(id)) return null
  return nullIfMissing(async () => {
    const invoice = await stripe.invoices.retrieve(id)
    const isOpen = invoice.status === 'open' && getReferencedId(invoice.customer) === customerId
    return isOpen ? findUnconfirmed(stripe, id) : null
  })
}

/** Number of newest payments to search. Customers rarely confirm older ones. */
const NEWEST = 100

/**
 * Lists the payments of invoices, single charges, and cards of trials that the customer still has
 * to authenticate.
 */
async function listPendingConfirmations(
  { stripe }: StripeContext,
  customer: string,
): Promise<PendingConfirmation[]> {
  const found: PendingConfirmation[] = []
  const { data } = await stripe.paymentIntents.list({ customer, limit: NEWEST })
  for (const { id, client_secret: clientSecret, status } of data) {
    const isAsked = status === 'requires_action' && clientSecret !== null
    if (isAsked) found.push({ kind: 'payment', id, clientSecret })
  }
  const trials = stripe.subscriptions.list({
    customer,
    status: 'trialing',
    limit: 100,
    expand: ['data.pending_setup_intent'],
  })
  for await (const trial of trials) {
    const setup = findPendingSetup(trial)
    if (setup) found.push(setup)
  }
  return found
}

async function findUnconfirmed(
  stripe: Stripe,
  invoiceId: string,
): Promise<PendingConfirmation | null> {
  try {
    await throwIfUnpaid(stripe, invoiceId)
    return null
  } catch (error) {
    if (isBillingError(error, 'payment_action_required')) {
      return { kind: 'payment', ...error.payment }
    }
    if (isBillingError(error, 'payment_failed')) return null
    throw error
  }
}

export async function throwIfUnpaid(stripe: Stripe, invoiceId: string): Promise<void> {
  const invoice = await stripe.invoices.retrieve(invoiceId, {
    expand: ['payments', 'confirmation_secret'],
  })
  const paymentId = getReferencedId(invoice.payments?.data[0]?.payment.payment_intent)
  if (invoice.status === 'paid' || paymentId === null) return
  const payment = await stripe.paymentIntents.retrieve(paymentId)
  const clientSecret = invoice.confirmation_secret?.client_secret ?? payment.client_secret
  if (payment.status === 'requires_action' && clientSecret) {
    throw new PaymentActionRequired('The customer must confirm the payment', {
      provider: 'stripe',
      providerCode: 'requires_action',
      payment: { id: payment.id, clientSecret },
    })
  }
  const reason = payment.last_payment_error
  if (payment.status !== 'requires_payment_method') return
  throw new PaymentFailed(reason?.message ?? 'The payment failed', {
    provider: 'stripe',
    providerCode: reason?.code ?? null,
    declineCode: reason?.decline_code ?? null,
  })
}
