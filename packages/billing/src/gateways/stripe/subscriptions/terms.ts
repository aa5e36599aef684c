import type Stripe from 'stripe'
import type { Gateway } from '../../contract/gateway.ts'
import type { ProviderMethod } from '../../contract/parts/pages/payment-methods.ts'
import type { AgreedTerms } from '../../contract/subscription.ts'
import { findDefault } from '../payments/customers.ts'
import { describeMethod } from '../payments/describe-method.ts'
import { idOf, type StripeContext } from '../sdk/client.ts'
import { readChoice } from './chosen-tax.ts'
import { IN_PLACE_OF } from './codes/owed.ts'
import { CHANGED } from './codes/promotion-codes.ts'
import { readTerms } from './start.ts'

const DAY = 86_400

/** Terms of a subscription that runs: from the object itself, and what Stripe does not tell from its metadata. */
export function stripeTerms(context: StripeContext): Pick<Gateway, 'findTerms'> {
  return {
    async findTerms({ id }) {
      const subscription = await context.stripe.subscriptions.retrieve(id, {
        expand: ['default_payment_method', 'discounts.promotion_code', 'discounts.source.coupon'],
      })
      const { metadata, trial_start: start, trial_end: end } = subscription
      return {
        coupon: metadata[CHANGED] === undefined ? (metadata.coupon ?? null) : null,
        discounts: subscription.discounts.flatMap(namesOf),
        trialDays: start === null || end === null ? null : (end - start) / DAY,
        included: [],
        ...startOf(subscription),
        ...chosenTaxOf(subscription),
        method: await findMethod(context, subscription),
      }
    },
  }
}

/** A coupon, the code that brought it, and the code that this one was given back for. */
function namesOf(discount: string | Stripe.Discount): string[] {
  if (typeof discount === 'string') return []
  const { promotion_code: code, source } = discount
  const inPlaceOf = code !== null && typeof code === 'object' ? code.metadata?.[IN_PLACE_OF] : null
  return [inPlaceOf, idOf(code), idOf(source.coupon)].flatMap((name) => name ?? [])
}

/** A swap to another interval moves the day on which whole periods begin. */
function startOf({
  metadata,
  billing_cycle_anchor: anchor,
}: Stripe.Subscription): Pick<AgreedTerms, 'anchorAt' | 'backdateTo' | 'prorate'> {
  const { anchorAt, ...terms } = readTerms(metadata.terms)
  return anchorAt && anchorAt.getTime() === anchor * 1000 ? { anchorAt, ...terms } : terms
}

function chosenTaxOf({ metadata }: Stripe.Subscription): Pick<AgreedTerms, 'chosenTax'> {
  const chosenTax = readChoice(metadata)
  return chosenTax === null ? {} : { chosenTax }
}

async function findMethod(
  context: StripeContext,
  { customer, default_payment_method: own }: Stripe.Subscription,
): Promise<ProviderMethod | null> {
  const method = own ?? (await findDefault(context, idOf(customer) ?? ''))
  return method === null || typeof method === 'string' ? null : describeMethod(method, method.id)
}
