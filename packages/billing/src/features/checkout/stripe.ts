import type Stripe from 'stripe'
import { getReferencedId, type StripeContext, toDate } from '../../providers/stripe/client.ts'
import {
  createPromotionCodeUsedUpError,
  isMissingObjectError,
} from '../../providers/stripe/errors.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import { callWithPromotionCode, isUsedUp } from '../promotion-codes/stripe-replacement-codes.ts'
import { createTaxRateFinder } from '../taxes/stripe-chosen-tax.ts'
import type { CheckoutPages, CheckoutPaymentStatus, ProviderCheckout } from './contract.ts'
import { buildCheckoutParams } from './stripe-params.ts'

/**
 * Objects to include in Stripe's response. The first two contain the entered card, the last one the
 * state of a payment.
 */
const EXPAND = ['subscription', 'setup_intent', 'payment_intent']

export function createStripeCheckout(context: StripeContext): { readonly checkout: CheckoutPages } {
  const { stripe, currency } = context
  const { sessions } = stripe.checkout
  const findTaxRates = createTaxRateFinder(context)

  async function findByOperation(
    operation: string,
    customer: string,
  ): Promise<Stripe.Checkout.Session | null> {
    const expand = EXPAND.map((member) => `data.${member}`)
    for await (const session of sessions.list({ customer, limit: 100, expand })) {
      if (session.metadata?.operation === operation) return session
    }
    return null
  }

  /**
   * Checks that a page can still be paid. If other customers have used up its promotion code since
   * the page was opened, expires the page.
   * @throws PromotionCodeRefused if the code is used up and the page was not completed.
   */
  async function requirePayable(session: Stripe.Checkout.Session, code: string): Promise<void> {
    // A repeat gets Stripe's response to the first call, so the code is read again.
    if (!isUsedUp(await stripe.promotionCodes.retrieve(code))) return
    const { id, status, subscription } = await sessions.retrieve(session.id)
    if (status === 'complete' || subscription !== null) return
    if (status === 'open') await expire(id)
    throw createPromotionCodeUsedUpError()
  }

  async function expire(id: string): Promise<void> {
    try {
      await sessions.expire(id)
    } catch (error) {
      // Completed or expired in a race: the caller reads its result.
      const { status } = await sessions.retrieve(id)
      if (status === 'open') throw error
    }
  }

  return {
    checkout: {
      async create(wanted) {
        const rates = wanted.tax === 'automatic' ? [] : await findTaxRates(wanted.tax)
        const { customerId, operation, discount } = wanted
        const named = discount && ('coupon' in discount ? discount.coupon : discount.promotionCode)
        const typed = named?.startsWith('promo_') ? named : null
        const made = await callWithPromotionCode(
          context,
          { coupon: typed, customerId },
          {
            async make(given) {
              const code = given ?? typed
              const off = given === null ? discount : { promotionCode: given }
              const params = buildCheckoutParams({ ...wanted, discount: off }, { rates, currency })
              const session = await createIdempotently(
                `${operation}:checkout${given === null ? '' : `:${given}`}`,
                (request) => sessions.create(params, request),
                () => findByOperation(operation, customerId),
              )
              if (code !== null) await requirePayable(session, code)
              return session
            },
            async find() {
              const before = await findByOperation(operation, customerId)
              return before?.status === 'expired' ? null : before
            },
          },
        )
        return describeCheckout(made)
      },
      async find(id) {
        try {
          return describeCheckout(await sessions.retrieve(id, { expand: EXPAND }))
        } catch (error) {
          if (isMissingObjectError(error)) return null
          throw error
        }
      },
      async findByOperation(operation, customerId) {
        const found = await findByOperation(operation, customerId)
        return found && describeCheckout(found)
      },
      expire,
    },
  }
}

export function describeCheckout(session: Stripe.Checkout.Session): ProviderCheckout {
  const { metadata } = session
  return {
    id: session.id,
    url: session.status === 'open' ? session.url : null,
    mode: session.mode as ProviderCheckout['mode'],
    status: session.status as ProviderCheckout['status'],
    isPaid: session.payment_status !== 'unpaid',
    paymentStatus: toCheckoutPaymentStatus(session),
    expiresAt: toDate(session.expires_at),
    customerId: getReferencedId(session.customer),
    owner: metadata?.owner ?? null,
    successPath: metadata?.success_path ?? null,
    subscriptionId: getReferencedId(session.subscription),
    paymentId: getReferencedId(session.payment_intent),
    invoiceId: getReferencedId(session.invoice),
    cardToken: findSessionCard(session),
    raw: session,
  }
}

/** Payment statuses that are final on a completed page, where no other card can be entered. */
const FINAL_PAYMENT_STATUSES: readonly string[] = ['requires_payment_method', 'canceled']

function toCheckoutPaymentStatus(session: Stripe.Checkout.Session): CheckoutPaymentStatus {
  const { payment_status: paymentStatus, payment_intent: intent, status } = session
  if (paymentStatus === 'no_payment_required') return 'none'
  if (paymentStatus === 'paid') return 'paid'
  const isOver =
    typeof intent === 'object' && intent !== null && FINAL_PAYMENT_STATUSES.includes(intent.status)
  return status === 'complete' && isOver ? 'failed' : 'pending'
}

/** Returns the card of a subscription or setup. A single payment stores none. */
function findSessionCard({ subscription, setup_intent }: Stripe.Checkout.Session): string | null {
  const from =
    typeof subscription === 'object' && subscription !== null
      ? subscription.default_payment_method
      : typeof setup_intent === 'object' && setup_intent !== null
        ? setup_intent.payment_method
        : null
  return getReferencedId(from)
}
