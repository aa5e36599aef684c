import type Stripe from 'stripe'
import { isBillingError } from '../../../error-codes.ts'
import { PaymentActionRequired, PaymentFailed } from '../../../payment-errors.ts'
import type { PendingConfirmation } from '../../../values/confirmation.ts'
import type { Gateway } from '../../contract/gateway.ts'
import type { Confirmations } from '../../contract/parts/subscriptions/confirmations.ts'
import type { ProviderSubscription } from '../../contract/subscription.ts'
import { requireMethod } from '../payments/customers.ts'
import { paymentOf } from '../payments/payments.ts'
import { voidInvoice } from '../payments/void-invoice.ts'
import { idOf, type StripeContext } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { cancelNow } from './cancel.ts'
import { closeLeftUnpaid } from './held/left-unpaid.ts'
import { putTaxBack } from './held/tax-before.ts'
import { retrieve } from './retrieve.ts'

const UNPAID: readonly string[] = ['incomplete', 'past_due', 'unpaid']

/** A payment that may still come without anybody trying again. */
const ON_ITS_WAY: readonly string[] = ['requires_action', 'processing', 'succeeded']

/** Payments that wait for the customer, the first one of an incomplete subscription among them. */
export function stripeConfirmations(context: StripeContext): Pick<Gateway, 'requirePaid'> & {
  readonly confirmations: Confirmations
} {
  return {
    requirePaid: (subscription) => requirePaid(context, subscription),
    confirmations: {
      find: (id) => findPendingConfirmation(context, id),
      findOfInvoice: (id, customerId) => findOfInvoice(context, id, customerId),
      list: (customerId) => listPendingConfirmations(context, customerId),

      async isAwaiting({ raw }, customerId) {
        const invoiceId = idOf((raw as Stripe.Subscription).latest_invoice)
        if (invoiceId === null) return false
        const payment = await paymentOf(context, invoiceId)
        if (!payment || !ON_ITS_WAY.includes(payment.status)) return false
        return idOf(payment.payment_method) === (await requireMethod(context, customerId))
      },

      async abandon({ id, raw }) {
        const invoiceId = idOf((raw as Stripe.Subscription).latest_invoice)
        // Cancelling alone would leave an open invoice, which the customer could still pay.
        const isClosed = invoiceId === null || (await voidInvoice(context, invoiceId))
        if (isClosed) await cancelNow(context, id)
      },

      async putBack(id) {
        await putTaxBack(context, await retrieve(context.stripe, id))
      },

      closeUnpaid: ({ raw }) => closeLeftUnpaid(context, raw as Stripe.Subscription),
    },
  }
}

/** Why a subscription is not paid: the customer is asked, or the card was declined. */
async function requirePaid(
  { stripe }: StripeContext,
  { raw }: ProviderSubscription,
): Promise<void> {
  const invoiceId = unpaidInvoice(raw as Stripe.Subscription)
  if (invoiceId !== null) await throwUnpaid(stripe, invoiceId)
}

/** Of the subscription itself, or of a change that waits for it. */
function unpaidInvoice(subscription: Stripe.Subscription): string | null {
  const isUnpaid = subscription.pending_update || UNPAID.includes(subscription.status)
  return isUnpaid ? idOf(subscription.latest_invoice) : null
}

async function findPendingConfirmation(
  { stripe }: StripeContext,
  id: string,
): Promise<PendingConfirmation | null> {
  const subscription = await stripe.subscriptions.retrieve(id, { expand: ['pending_setup_intent'] })
  const invoiceId = unpaidInvoice(subscription)
  if (invoiceId !== null) {
    const payment = await findUnconfirmed(stripe, invoiceId)
    if (payment) return payment
  }
  return setupOf(subscription)
}

/** The card of a trial, which is charged later. The setup must be expanded. */
function setupOf(subscription: Stripe.Subscription): PendingConfirmation | null {
  const setup = subscription.status === 'trialing' ? subscription.pending_setup_intent : null
  if (setup === null || typeof setup === 'string') return null
  const { id, client_secret: clientSecret, status } = setup
  const isAsked = status === 'requires_action' && clientSecret !== null
  return isAsked ? { kind: 'setup', id, clientSecret } : null
}

async function findOfInvoice(
  { stripe }: StripeContext,
  id: string,
  customerId: string,
): Promise<PendingConfirmation | null> {
  if (!/^in_\w{1,100}$/.test(id)) return null
  try {
    const invoice = await stripe.invoices.retrieve(id)
    const isOpen = invoice.status === 'open' && idOf(invoice.customer) === customerId
    return isOpen ? await findUnconfirmed(stripe, id) : null
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Among so many of the newest payments: one that nobody asked for since is not waited for. */
const NEWEST = 100

/** Payments of invoices and of single charges, and cards of trials. */
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
    const setup = setupOf(trial)
    if (setup) found.push(setup)
  }
  return found
}

async function findUnconfirmed(
  stripe: Stripe,
  invoiceId: string,
): Promise<PendingConfirmation | null> {
  try {
    await throwUnpaid(stripe, invoiceId)
    return null
  } catch (error) {
    if (isBillingError(error, 'payment_action_required')) {
      return { kind: 'payment', ...error.payment }
    }
    if (isBillingError(error, 'payment_failed')) return null
    throw error
  }
}

export async function throwUnpaid(stripe: Stripe, invoiceId: string): Promise<void> {
  const invoice = await stripe.invoices.retrieve(invoiceId, {
    expand: ['payments', 'confirmation_secret'],
  })
  const paymentId = idOf(invoice.payments?.data[0]?.payment.payment_intent)
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
