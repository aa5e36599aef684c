import type Stripe from 'stripe'
import type { CheckoutItem } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { addIntervals } from '../wire/periods.ts'
import type { CheckoutParams } from './checkout-rules.ts'

const PARAM = 'subscription_data[billing_cycle_anchor]'

/** What of an order it depends on. */
interface Anchored {
  readonly params: CheckoutParams
  readonly items: readonly CheckoutItem[]
  readonly discounts: ReadonlyArray<{ coupon?: string; promotion_code?: string }>
}

type AnchorParams = Pick<
  Stripe.SubscriptionCreateParams,
  'billing_cycle_anchor' | 'backdate_start_date' | 'proration_behavior'
>

/** From when on whole periods are billed. Pages are stricter about it than the API. */
export function anchorParams(work: UnitOfWork, order: Anchored): AnchorParams {
  const { billing_cycle_anchor: anchor, proration_behavior: proration } =
    order.params.subscription_data ?? {}
  if (anchor === undefined) return {}
  const isFree = proration === 'none'
  const rhythms = order.items.map(({ price }) => work.require('price', price).recurring)
  if (isFree && rhythms.includes(null)) {
    throw invalidRequest('One-time prices can not be used when nothing is prorated.', PARAM)
  }
  if (!isFree && order.discounts.some((each) => takesAmount(work, each))) {
    throw invalidRequest(
      'Coupons of a fixed amount can not be used when the time before the anchor is prorated.',
      PARAM,
    )
  }
  const rhythm = rhythms.find((each) => each !== null)
  if (anchor > work.now || !rhythm) return {}
  // Whoever pays after that day pays for the period that began with it.
  return {
    backdate_start_date: anchor,
    billing_cycle_anchor: addIntervals(anchor, rhythm, 1),
    proration_behavior: 'create_prorations',
  }
}

function takesAmount(
  work: UnitOfWork,
  { coupon, promotion_code: code }: Anchored['discounts'][number],
): boolean {
  const id = coupon ?? work.find('promotion_code', code ?? '')?.promotion.coupon ?? ''
  return (work.find('coupon', id)?.amount_off ?? null) !== null
}
