import type Stripe from 'stripe'
import { isBillingError } from '../../../../error-codes.ts'
import { idOf, type StripeContext } from '../../sdk/client.ts'
import { isRefusal, toBillingError } from '../../sdk/errors.ts'
import { once } from '../../sdk/once.ts'

/** Under which a code names the one that it is in place of. */
const IN_PLACE_OF = 'in_place_of'

/**
 * Stripe counts a code as used when a subscription is made, also where its first payment never comes. Such a use is given
 * back to its customer: by a code like it, for them alone and once. There are never more of these than payments that never
 * came. Null where there was none; the newest one, used or not, where all were given back.
 */
export async function giveBack(
  context: StripeContext,
  code: Stripe.PromotionCode,
  customer: string,
): Promise<Stripe.PromotionCode | null> {
  const of = code.metadata?.[IN_PLACE_OF] ?? code.id
  const given = await listGiven(context, code, { customer, of })
  const unused = given.find(({ active, times_redeemed: used }) => active && used === 0)
  if (unused) return unused
  const lost = await countLost(context, customer, [of, ...given.map(({ id }) => id)])
  if (lost <= given.length) return given[0] ?? null
  try {
    return await once(
      `${of}:${customer}:given-back:${given.length}`,
      (request) => context.stripe.promotionCodes.create(likeIt(code, { customer, of }), request),
      async () => {
        const [newest, ...others] = await listGiven(context, code, { customer, of })
        return newest && others.length === given.length ? newest : null
      },
    )
  } catch (error) {
    // What it takes off may be over, and a key of Stripe's may not be allowed to make codes.
    const { type } = error as { readonly type?: unknown }
    if (isRefusal(error) || type === 'StripePermissionError') return null
    throw error
  }
}

/** Makes something with a code, or with the one that is given back for it where it is used up. */
export async function withCode<T>(
  context: StripeContext,
  { coupon, customerId }: { readonly coupon: string | null; readonly customerId: string },
  make: (coupon: string | null, isGivenBack: boolean) => Promise<T>,
): Promise<T> {
  try {
    return await make(coupon, false)
  } catch (error) {
    if (!coupon?.startsWith('promo_')) throw error
    const refused = toBillingError(error)
    if (!isBillingError(refused, 'promotion_code_refused') || refused.reason !== 'unknown') {
      throw error
    }
    const code = await context.stripe.promotionCodes.retrieve(coupon)
    const own = isUsedUp(code) ? await giveBack(context, code, customerId) : null
    if (!own || own.id === coupon) throw error
    return make(own.id, true)
  }
}

/** As often as it may be; Stripe may count its coupon's limit besides. */
export function isUsedUp({
  max_redemptions: most,
  times_redeemed: used,
}: Stripe.PromotionCode): boolean {
  return most !== null && used >= most
}

interface Given {
  readonly customer: string
  /** The code that was typed. */
  readonly of: string
}

/** Newest first. */
async function listGiven(
  { stripe }: StripeContext,
  { promotion }: Stripe.PromotionCode,
  { customer, of }: Given,
): Promise<Stripe.PromotionCode[]> {
  const coupon = idOf(promotion.coupon)
  if (coupon === null) return []
  const { data } = await stripe.promotionCodes.list({
    coupon,
    customer,
    limit: 100,
    expand: ['data.promotion.coupon'],
  })
  return data.filter(({ metadata }) => metadata?.[IN_PLACE_OF] === of)
}

/** Subscriptions with one of these codes whose first payment never came. */
async function countLost(
  { stripe }: StripeContext,
  customer: string,
  codes: readonly string[],
): Promise<number> {
  let lost = 0
  const status = 'incomplete_expired'
  for await (const { metadata } of stripe.subscriptions.list({ customer, status, limit: 100 })) {
    if (codes.includes(metadata.coupon ?? '')) lost += 1
  }
  return lost
}

function likeIt(
  { promotion, restrictions, expires_at: expiresAt }: Stripe.PromotionCode,
  { customer, of }: Given,
): Stripe.PromotionCodeCreateParams {
  const { minimum_amount: least, minimum_amount_currency: leastIn } = restrictions
  return {
    promotion: { type: 'coupon', coupon: idOf(promotion.coupon) ?? '' },
    customer,
    max_redemptions: 1,
    ...(expiresAt === null ? {} : { expires_at: expiresAt }),
    restrictions: {
      first_time_transaction: restrictions.first_time_transaction,
      ...(least !== null && leastIn !== null
        ? { minimum_amount: least, minimum_amount_currency: leastIn }
        : {}),
    },
    metadata: { [IN_PLACE_OF]: of },
    expand: ['promotion.coupon'],
  }
}
