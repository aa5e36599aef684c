import type Stripe from 'stripe'
import { isBillingError } from '../../../../error-codes.ts'
import { idOf, type StripeContext } from '../../sdk/client.ts'
import { isRefusal } from '../../sdk/errors.ts'
import { once } from '../../sdk/once.ts'
import { findOwed, IN_PLACE_OF, isUsedUp, listGiven } from './owed.ts'

interface Typed {
  /** The id of a code, or of a coupon, which passes. */
  readonly coupon: string | null
  readonly customerId: string | null
}

interface Use<T> {
  /** With the code that was typed (null), or with another one in its place. */
  readonly make: (given: string | null) => Promise<T>
  /** What was made before by the same operation: that may be what has used the code up. */
  readonly find: () => Promise<T | null>
}

/**
 * Makes something with a code. Where that is used up, but by a first payment of this customer that never came, the use is
 * given back: by a code like it, for them alone and once.
 */
export async function withCode<T>(
  context: StripeContext,
  typed: Typed,
  { make, find }: Use<T>,
): Promise<T> {
  try {
    return await make(null)
  } catch (error) {
    const used = await findUsedUp(context, typed, error)
    if (!used) throw error
    const before = await find()
    if (before) return before
    const given = await giveBack(context, used)
    if (given === null) throw error
    return make(given)
  }
}

/** What is only shown: nothing is given back for it. */
export async function showWithCode<T>(
  context: StripeContext,
  typed: Typed,
  show: (discount: { promotion_code: string } | { coupon: string } | null) => Promise<T>,
): Promise<T> {
  try {
    return await show(null)
  } catch (error) {
    const used = await findUsedUp(context, typed, error)
    if (!used) throw error
    const owed = await findOwed(context, used.code, used.customer)
    if (owed.is === 'nothing') throw error
    if (owed.is === 'given') return show({ promotion_code: owed.code.id })
    return show({ coupon: idOf(used.code.promotion.coupon) ?? '' })
  }
}

interface UsedUp {
  readonly code: Stripe.PromotionCode
  readonly customer: string
}

/** Whatever Stripe's words for the refusal are: the code says whether it is used up. */
async function findUsedUp(
  { stripe }: StripeContext,
  { coupon: id, customerId: customer }: Typed,
  error: unknown,
): Promise<UsedUp | null> {
  const isRefused = isRefusal(error) || isBillingError(error, 'promotion_code_refused')
  if (!id?.startsWith('promo_') || customer === null || !isRefused) return null
  try {
    const code = await stripe.promotionCodes.retrieve(id, {
      expand: ['restrictions.currency_options'],
    })
    return isUsedUp(code) ? { code, customer } : null
  } catch (failed) {
    if (isRefusal(failed)) return null
    throw failed
  }
}

/** The id of the customer's own; null where nothing is to be given back. */
async function giveBack(
  context: StripeContext,
  { code, customer }: UsedUp,
): Promise<string | null> {
  const owed = await findOwed(context, code, customer)
  if (owed.is === 'given') return owed.code.id
  if (owed.is !== 'lost') return null
  const before = owed.newest?.id
  try {
    const { id } = await once(
      `${before ?? code.id}:${customer}:given-back`,
      (request) => context.stripe.promotionCodes.create(likeIt(code, customer), request),
      async () => {
        const [newest] = await listGiven(context, code, customer)
        return newest && newest.id !== before ? newest : null
      },
    )
    return id
  } catch (error) {
    // What it takes off may be over, and a key of Stripe's may not be allowed to make codes.
    const { type } = error as { readonly type?: unknown }
    if (isRefusal(error) || type === 'StripePermissionError') return null
    throw error
  }
}

function likeIt(code: Stripe.PromotionCode, customer: string): Stripe.PromotionCodeCreateParams {
  const { promotion, restrictions, expires_at: expiresAt } = code
  const { minimum_amount: least, minimum_amount_currency: leastIn } = restrictions
  // Stripe shows its own currency among them, and does not take it.
  const others = Object.entries(restrictions.currency_options ?? {}).filter(
    ([currency]) => currency !== leastIn,
  )
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
      ...(others.length > 0 ? { currency_options: Object.fromEntries(others) } : {}),
    },
    metadata: { ...code.metadata, [IN_PLACE_OF]: code.id },
  }
}
