import type Stripe from 'stripe'
import { PaymentActionRequired, PaymentFailed, type PendingConfirmation } from '../../../errors.ts'
import type { Gateway, NewSubscription, ProviderSubscription } from '../../contract/gateway.ts'
import { idOf, type StripeContext, toDate } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { once } from '../sdk/once.ts'
import { cancelNow } from './cancel.ts'
import { stripeFirstPayments } from './first-payments.ts'
import { taxRates } from './tax-rates.ts'

type Subscriptions = Pick<
  Gateway,
  | 'createSubscription'
  | 'findSubscription'
  | 'findByOperation'
  | 'listSubscriptions'
  | 'findOwner'
  | 'isAwaiting'
  | 'abandon'
  | 'requirePaid'
  | 'findPendingConfirmation'
  | 'setQuantity'
  | 'setTax'
  | 'cancelAtPeriodEnd'
  | 'cancelNow'
  | 'resume'
>

const UNPAID: readonly string[] = ['incomplete', 'past_due', 'unpaid']

export function stripeSubscriptions(context: StripeContext): Subscriptions {
  const { stripe } = context
  const findTaxRates = taxRates(context)

  async function listSubscriptions(customer: string): Promise<Stripe.Subscription[]> {
    const found: Stripe.Subscription[] = []
    for await (const each of stripe.subscriptions.list({ customer, status: 'all', limit: 100 })) {
      found.push(each)
    }
    return found.reverse()
  }

  async function findByOperation(
    operation: string,
    customer: string,
  ): Promise<Stripe.Subscription | null> {
    const all = await listSubscriptions(customer)
    return all.find(({ metadata }) => metadata.operation === operation) ?? null
  }

  return {
    async createSubscription(wanted) {
      const params = createParams(wanted, await findTaxRates(wanted.tax))
      const made = await once(
        `${wanted.operation}:subscription`,
        (request) => stripe.subscriptions.create(params, request),
        () => findByOperation(wanted.operation, wanted.customerId),
      )
      return describe(made)
    },
    async findSubscription(id) {
      try {
        return describe(await stripe.subscriptions.retrieve(id))
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },
    async findByOperation({ id }, customerId) {
      const found = await findByOperation(id, customerId)
      return found && describe(found)
    },
    listSubscriptions: async (customer) => (await listSubscriptions(customer)).map(describe),
    findOwner: async ({ customerId }) => customerId,
    ...stripeFirstPayments(context),
    requirePaid: (subscription) => requirePaid(context, subscription),
    findPendingConfirmation: (id) => findPendingConfirmation(context, id),
    async setQuantity(id, quantity) {
      const { items } = await stripe.subscriptions.retrieve(id)
      await stripe.subscriptions.update(id, {
        items: [{ ...itemId(items), quantity }],
        payment_behavior: 'error_if_incomplete',
      })
    },
    async setTax(id, tax) {
      const rates = await findTaxRates(tax)
      await stripe.subscriptions.update(id, { default_tax_rates: rates.length > 0 ? rates : '' })
    },
    async cancelAtPeriodEnd(id) {
      await stripe.subscriptions.update(id, { cancel_at_period_end: true })
    },
    cancelNow: (id, options) => cancelNow(context, id, options),
    async resume(id) {
      const { cancel_at, cancel_at_period_end } = await stripe.subscriptions.retrieve(id)
      // The customer portal may have set a date instead of the flag.
      const undo: Stripe.SubscriptionUpdateParams =
        cancel_at !== null && !cancel_at_period_end
          ? { cancel_at: '' }
          : { cancel_at_period_end: false }
      await stripe.subscriptions.update(id, undo)
    },
  }
}

function createParams(
  wanted: NewSubscription,
  rates: readonly string[],
): Stripe.SubscriptionCreateParams {
  const { coupon } = wanted
  return {
    customer: wanted.customerId,
    items: [{ price: wanted.plan, quantity: wanted.quantity }],
    metadata: {
      name: wanted.name,
      operation: wanted.operation,
      ...(coupon === null ? {} : { coupon }),
    },
    // A declined or unconfirmed first payment leaves an incomplete subscription that can be looked at.
    payment_behavior: 'allow_incomplete',
    ...(coupon === null ? {} : { discounts: [discount(coupon)] }),
    ...(rates.length > 0 ? { default_tax_rates: [...rates] } : {}),
    ...(wanted.trialDays ? { trial_period_days: wanted.trialDays } : {}),
  }
}

function discount(code: string): Stripe.SubscriptionCreateParams.Discount {
  return code.startsWith('promo_') ? { promotion_code: code } : { coupon: code }
}

export function itemId(items: Stripe.Subscription['items']): { id: string } {
  const [item] = items.data
  if (!item) throw new Error('The subscription has no item')
  return { id: item.id }
}

/** Why a subscription is not paid: the customer is asked, or the card was declined. */
async function requirePaid(
  { stripe }: StripeContext,
  { raw }: ProviderSubscription,
): Promise<void> {
  const subscription = raw as Stripe.Subscription
  const invoiceId = idOf(subscription.latest_invoice)
  if (!UNPAID.includes(subscription.status) || invoiceId === null) return
  await throwUnpaid(stripe, invoiceId)
}

async function findPendingConfirmation(
  { stripe }: StripeContext,
  id: string,
): Promise<PendingConfirmation | null> {
  const subscription = await stripe.subscriptions.retrieve(id, { expand: ['pending_setup_intent'] })
  const invoiceId = idOf(subscription.latest_invoice)
  if (invoiceId !== null && UNPAID.includes(subscription.status)) {
    const payment = await findUnconfirmed(stripe, invoiceId)
    if (payment) return payment
  }
  const setup = subscription.status === 'trialing' ? subscription.pending_setup_intent : null
  if (setup === null || typeof setup === 'string') return null
  const { id: setupId, client_secret: clientSecret, status } = setup
  const isAsked = status === 'requires_action' && clientSecret !== null
  return isAsked ? { kind: 'setup', id: setupId, clientSecret } : null
}

async function findUnconfirmed(
  stripe: Stripe,
  invoiceId: string,
): Promise<PendingConfirmation | null> {
  try {
    await throwUnpaid(stripe, invoiceId)
    return null
  } catch (error) {
    if (error instanceof PaymentActionRequired) return { kind: 'payment', ...error.payment }
    if (error instanceof PaymentFailed) return null
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

export function describe(subscription: Stripe.Subscription): ProviderSubscription {
  const [item] = subscription.items.data
  return {
    id: subscription.id,
    customerId: idOf(subscription.customer),
    plan: item?.price.id ?? '',
    status: subscription.status,
    isOver: subscription.status === 'canceled' || subscription.status === 'incomplete_expired',
    quantity: item?.quantity ?? 1,
    trialEndsAt: subscription.trial_end === null ? null : toDate(subscription.trial_end),
    endsAt: endOf(subscription),
    periodEndsAt: periodEndOf(subscription),
    paidUntil: periodEndOf(subscription),
    createdAt: toDate(subscription.created),
    name: subscription.metadata.name ?? null,
    nameDigest: null,
    operation: subscription.metadata.operation ?? null,
    failedCharges: 0,
    taxedPrice: null,
    lastChargeAt: null,
    raw: subscription,
  }
}

/** `canceled_at` is when it was asked for, not when access ends. */
function endOf(subscription: Stripe.Subscription): Date | null {
  const { ended_at, cancel_at, cancel_at_period_end } = subscription
  if (ended_at !== null) return toDate(ended_at)
  if (cancel_at !== null) return toDate(cancel_at)
  return cancel_at_period_end ? periodEndOf(subscription) : null
}

function periodEndOf({ items }: Stripe.Subscription): Date | null {
  const ends = items.data.map((item) => item.current_period_end)
  return ends.length > 0 ? toDate(Math.max(...ends)) : null
}
