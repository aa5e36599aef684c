import type Stripe from 'stripe'
import type { Gateway } from '../../providers/gateway.ts'
import type { ProviderPaymentMethod } from '../../providers/payment-method.ts'
import { getReferencedId, type StripeContext } from '../../providers/stripe/client.ts'
import { describeStripePaymentMethod } from '../../providers/stripe/describe-method.ts'
import type { AgreedTerms } from '../../providers/subscription.ts'
import { findDefaultMethod } from '../customers/stripe.ts'
import { DISCOUNTS_CHANGED_KEY } from '../promotion-codes/stripe.ts'
import { REPLACED_CODE_KEY } from '../promotion-codes/stripe-replacement-codes.ts'
import { readTaxChoice } from '../taxes/stripe-chosen-tax.ts'
import { parseStartTerms } from './stripe.ts'

const DAY = 86_400

/**
 * Implements reading the agreed terms of a Stripe subscription. Terms that Stripe does not report
 * are read from the subscription's metadata.
 */
export function createStripeAgreedTerms(context: StripeContext): Pick<Gateway, 'findTerms'> {
  return {
    async findTerms({ id }) {
      const subscription = await context.stripe.subscriptions.retrieve(id, {
        expand: ['default_payment_method', 'discounts.promotion_code', 'discounts.source.coupon'],
      })
      const { metadata, trial_start: start, trial_end: end } = subscription
      return {
        coupon: metadata[DISCOUNTS_CHANGED_KEY] === undefined ? (metadata.coupon ?? null) : null,
        discounts: subscription.discounts.flatMap(listDiscountNames),
        trialDays: start === null || end === null ? null : (end - start) / DAY,
        included: [],
        ...readStartTerms(subscription),
        ...chosenTaxOf(subscription),
        method: await findMethod(context, subscription),
      }
    },
  }
}

/**
 * Returns the names of a discount: the original promotion code that it replaces, its promotion
 * code, and its coupon.
 */
function listDiscountNames(discount: string | Stripe.Discount): string[] {
  if (typeof discount === 'string') return []
  const { promotion_code: code, source } = discount
  const inPlaceOf =
    code !== null && typeof code === 'object' ? code.metadata?.[REPLACED_CODE_KEY] : null
  return [inPlaceOf, getReferencedId(code), getReferencedId(source.coupon)].flatMap(
    (name) => name ?? [],
  )
}

/**
 * Reads anchor and backdating. A swap to another billing interval moves the anchor, so the
 * requested one no longer counts.
 */
function readStartTerms({
  metadata,
  billing_cycle_anchor: anchor,
}: Stripe.Subscription): Pick<AgreedTerms, 'anchorAt' | 'backdateTo' | 'prorate'> {
  const { anchorAt, ...terms } = parseStartTerms(metadata.terms)
  return anchorAt && anchorAt.getTime() === anchor * 1000 ? { anchorAt, ...terms } : terms
}

function chosenTaxOf({ metadata }: Stripe.Subscription): Pick<AgreedTerms, 'chosenTax'> {
  const chosenTax = readTaxChoice(metadata)
  return chosenTax === null ? {} : { chosenTax }
}

async function findMethod(
  context: StripeContext,
  { customer, default_payment_method: own }: Stripe.Subscription,
): Promise<ProviderPaymentMethod | null> {
  const method = own ?? (await findDefaultMethod(context, getReferencedId(customer) ?? ''))
  return method === null || typeof method === 'string'
    ? null
    : describeStripePaymentMethod(method, method.id)
}
