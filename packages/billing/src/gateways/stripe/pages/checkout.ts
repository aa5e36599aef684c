import type Stripe from 'stripe'
import type {
  CheckoutPages,
  CheckoutPaymentStatus,
  ProviderCheckout,
} from '../../contract/parts/pages/checkout.ts'
import { idOf, type StripeContext, toDate } from '../sdk/client.ts'
import { codeIsUsedUp, isMissing } from '../sdk/errors.ts'
import { once } from '../sdk/once.ts'
import { withCode } from '../subscriptions/codes/given-back.ts'
import { isUsedUp } from '../subscriptions/codes/owed.ts'
import { taxRates } from '../subscriptions/tax-rates.ts'
import { checkoutParams } from './checkout-params.ts'

/** The first two say which card was left on the page, the last one what became of a payment. */
const EXPAND = ['subscription', 'setup_intent', 'payment_intent']

export function stripeCheckout(context: StripeContext): { readonly checkout: CheckoutPages } {
  const { stripe, currency } = context
  const { sessions } = stripe.checkout
  const findTaxRates = taxRates(context)

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

  /** One that was opened before others have used the code up is closed: nobody can pay it. */
  async function requirePayable(session: Stripe.Checkout.Session, code: string): Promise<void> {
    // The answer to a repeat is that of the first call.
    if (!isUsedUp(await stripe.promotionCodes.retrieve(code))) return
    const { id, status, subscription } = await sessions.retrieve(session.id)
    if (status === 'complete' || subscription !== null) return
    if (status === 'open') await expire(id)
    throw codeIsUsedUp()
  }

  async function expire(id: string): Promise<void> {
    try {
      await sessions.expire(id)
    } catch (error) {
      // Paid or closed at this very moment: the caller looks at what came of it.
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
        const made = await withCode(
          context,
          { coupon: typed, customerId },
          {
            async make(given) {
              const code = given ?? typed
              const off = given === null ? discount : { promotionCode: given }
              const params = checkoutParams({ ...wanted, discount: off }, { rates, currency })
              const session = await once(
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
        return describe(made)
      },
      async find(id) {
        try {
          return describe(await sessions.retrieve(id, { expand: EXPAND }))
        } catch (error) {
          if (isMissing(error)) return null
          throw error
        }
      },
      async findByOperation(operation, customerId) {
        const found = await findByOperation(operation, customerId)
        return found && describe(found)
      },
      expire,
    },
  }
}

function describe(session: Stripe.Checkout.Session): ProviderCheckout {
  const { metadata } = session
  return {
    id: session.id,
    url: session.status === 'open' ? session.url : null,
    mode: session.mode as ProviderCheckout['mode'],
    status: session.status as ProviderCheckout['status'],
    isPaid: session.payment_status !== 'unpaid',
    paymentStatus: paymentStatusOf(session),
    expiresAt: toDate(session.expires_at),
    customerId: idOf(session.customer),
    owner: metadata?.owner ?? null,
    successPath: metadata?.success_path ?? null,
    subscriptionId: idOf(session.subscription),
    paymentId: idOf(session.payment_intent),
    invoiceId: idOf(session.invoice),
    cardToken: cardOf(session),
    raw: session,
  }
}

/** Of a payment that waits for another card or account, on a page that is done, nothing comes any more. */
const OVER: readonly string[] = ['requires_payment_method', 'canceled']

function paymentStatusOf(session: Stripe.Checkout.Session): CheckoutPaymentStatus {
  const { payment_status: told, payment_intent: intent, status } = session
  if (told === 'no_payment_required') return 'none'
  if (told === 'paid') return 'paid'
  const isOver = typeof intent === 'object' && intent !== null && OVER.includes(intent.status)
  return status === 'complete' && isOver ? 'failed' : 'pending'
}

/** A payment keeps no card for later. */
function cardOf({ subscription, setup_intent }: Stripe.Checkout.Session): string | null {
  const from =
    typeof subscription === 'object' && subscription !== null
      ? subscription.default_payment_method
      : typeof setup_intent === 'object' && setup_intent !== null
        ? setup_intent.payment_method
        : null
  return idOf(from)
}
