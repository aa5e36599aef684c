import type Stripe from 'stripe'
import { ProviderRejected, RefundRefused } from '../../core/errors/errors.ts'
import { type Money, money } from '../../core/values/money.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import {
  getReferencedId,
  listAll,
  nullIfMissing,
  type StripeContext,
} from '../../providers/stripe/client.ts'
import { toBillingError } from '../../providers/stripe/errors.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import { findPaidInvoice } from '../payments/stripe.ts'
import { readRemainingInvoiceAmount } from '../proration/stripe-paid-invoice.ts'
import { isFailedRefund } from '../proration/stripe-returned.ts'
import type { NewRefund, RefundablePayment } from './contract.ts'
import type { Refund, RefundReason } from './refund.ts'

export function createStripeRefunds(context: StripeContext): Pick<GatewayParts, 'refunds'> {
  return {
    refunds: {
      async find(id, customerId) {
        const charge = await findCharge(context, id, customerId)
        return charge && describeCharge(charge)
      },
      creditedOf: ({ raw }) => readChargeCredit(context, raw as Stripe.Charge),
      list: async (charge) => (await listRefunds(context, charge)).map(describeRefund),
      findByKey: (charge, key) => findByKey(context, charge, key),
      create: (refund) => create(context, refund),
    },
  }
}

/**
 * Finds a charge by its own id or by the id of its payment (which `charge()` returns), of an
 * invoice, or of a hosted page.
 */
async function findCharge(
  context: StripeContext,
  id: string,
  customerId: string,
): Promise<Stripe.Charge | null> {
  if (!/^(ch|py|pi|in|cs)_\w{1,100}$/.test(id)) return null
  return nullIfMissing(async () => {
    const charge = await retrieve(context, id, customerId)
    return charge && getReferencedId(charge.customer) === customerId ? charge : null
  })
}

async function retrieve(
  context: StripeContext,
  id: string,
  customerId: string,
): Promise<Stripe.Charge | null> {
  const { stripe } = context
  if (id.startsWith('in_')) return findInvoiceCharge(context, id, customerId)
  if (id.startsWith('cs_')) return findCheckoutCharge(context, id, customerId)
  if (!id.startsWith('pi_')) return stripe.charges.retrieve(id)
  const { latest_charge } = await stripe.paymentIntents.retrieve(id)
  const charge = getReferencedId(latest_charge)
  return charge === null ? null : stripe.charges.retrieve(charge)
}

/**
 * Finds the charge of a hosted page. A page for a single payment has a payment, a page for a
 * subscription has the first invoice.
 */
async function findCheckoutCharge(
  context: StripeContext,
  id: string,
  customerId: string,
): Promise<Stripe.Charge | null> {
  const session = await context.stripe.checkout.sessions.retrieve(id)
  if (getReferencedId(session.customer) !== customerId) return null
  const paid = getReferencedId(session.payment_intent) ?? getReferencedId(session.invoice)
  return paid === null ? null : retrieve(context, paid, customerId)
}

async function findInvoiceCharge(
  context: StripeContext,
  id: string,
  customerId: string,
): Promise<Stripe.Charge | null> {
  const { stripe } = context
  const invoice = await stripe.invoices.retrieve(id)
  if (getReferencedId(invoice.customer) !== customerId) return null
  const { data } = await stripe.invoicePayments.list({ invoice: id, status: 'paid', limit: 2 })
  const [payment, another] = data.map(
    (each) => getReferencedId(each.payment.payment_intent) ?? getReferencedId(each.payment.charge),
  )
  if (another)
    throw refused('The invoice was paid in several payments: pass the id of a charge instead')
  return payment ? retrieve(context, payment, customerId) : null
}

function describeCharge(charge: Stripe.Charge): RefundablePayment {
  const { id, amount_captured, amount_refunded, currency, status } = charge
  return {
    charge: id,
    amount: money(amount_captured, currency),
    refunded: money(amount_refunded, currency),
    isRefundableInPart: status === 'succeeded',
    // A pending bank debit cannot be stopped.
    isVoidable: status !== 'pending',
    raw: charge,
  }
}

/**
 * Returns the credited part of a charge. Disputes are not counted: Stripe itself refuses to refund
 * a disputed charge.
 */
async function readChargeCredit(context: StripeContext, charge: Stripe.Charge): Promise<Money> {
  const { amount_captured, amount_refunded, currency } = charge
  const invoice = await findPaidInvoice(context, getReferencedId(charge.payment_intent))
  if (invoice === null) return money(0, currency)
  const left = await readRemainingInvoiceAmount(context, invoice, { gifts: true, disputes: false })
  return money(Math.max(0, amount_captured - amount_refunded - left), currency)
}

function listRefunds({ stripe }: StripeContext, charge: string): Promise<Stripe.Refund[]> {
  return listAll(stripe.refunds.list({ charge, limit: 100 }))
}

async function findByKey(
  context: StripeContext,
  charge: string,
  key: string,
): Promise<Refund | null> {
  const all = await listRefunds(context, charge)
  const found = all.find(({ metadata }) => metadata?.tollgate_key === key)
  return found ? describeRefund(found) : null
}

async function create(context: StripeContext, refund: NewRefund): Promise<Refund> {
  const { charge, amount, reason, key } = refund
  const { stripe } = context
  const params: Stripe.RefundCreateParams = {
    charge,
    ...(amount === null ? {} : { amount: amount.amount }),
    ...(reason === null ? {} : { reason }),
    metadata: { tollgate_key: key },
  }
  try {
    return await createIdempotently(
      `${key}:refund`,
      async (request) => describeRefund(await stripe.refunds.create(params, request)),
      () => findByKey(context, charge, key),
    )
  } catch (error) {
    throw toRefundRefusedError(error)
  }
}

/**
 * Converts an error with which Stripe rejected a refund, so that no money has moved, to
 * RefundRefused. Converts any other error to the billing error that describes it.
 */
export function toRefundRefusedError(error: unknown): unknown {
  const ours = toBillingError(error)
  if (!(ours instanceof ProviderRejected)) return ours
  const { message, provider, providerCode, cause } = ours
  return new RefundRefused(message, { provider, providerCode, cause })
}

function refused(message: string): RefundRefused {
  return new RefundRefused(message, { provider: 'stripe', providerCode: null })
}

const REASONS: readonly string[] = ['duplicate', 'fraudulent', 'requested_by_customer']

function describeRefund(refund: Stripe.Refund): Refund {
  const { id, amount, currency, reason } = refund
  return {
    id,
    charge: getReferencedId(refund.charge) ?? '',
    amount: money(amount, currency),
    status: statusOf(refund),
    reason: REASONS.includes(reason ?? '') ? (reason as RefundReason) : null,
    raw: refund,
  }
}

function statusOf(refund: Stripe.Refund): Refund['status'] {
  if (refund.status === 'succeeded') return 'succeeded'
  return isFailedRefund(refund) ? 'failed' : 'pending'
}
