import type Stripe from 'stripe'
import { isBillingError } from '../../core/errors/error-codes.ts'
import { getReferencedId, listAll, type StripeContext } from '../../providers/stripe/client.ts'
import { isStripeRefusal } from '../../providers/stripe/errors.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'

interface TypedPromotionCode {
  /** The id of a promotion code. The id of a coupon is accepted, and has no effect here. */
  readonly coupon: string | null
  readonly customerId: string | null
}

interface PromotionCodeCall<T> {
  /**
   * Makes the call: with the typed code if `given` is `null`, otherwise with the replacement code
   * `given`.
   */
  readonly make: (given: string | null) => Promise<T>
  /**
   * Finds the result of an earlier attempt of the same operation, which may have used the code up.
   */
  readonly find: () => Promise<T | null>
}

/**
 * Makes a request with a promotion code. If the code has reached its limit only because this
 * customer began a subscription with it and never paid, makes the request again with a replacement
 * code for this customer.
 */
export async function callWithPromotionCode<T>(
  context: StripeContext,
  typed: TypedPromotionCode,
  { make, find }: PromotionCodeCall<T>,
): Promise<T> {
  try {
    return await make(null)
  } catch (error) {
    const used = await findUsedUp(context, typed, error)
    if (!used) throw error
    const before = await find()
    if (before) return before
    const given = await findOrCreateReplacement(context, used)
    if (given === null) throw error
    return make(given)
  }
}

/**
 * Previews a request with a promotion code. Creates no replacement code: if one would be needed,
 * previews with the code's coupon.
 */
export async function previewWithPromotionCode<T>(
  context: StripeContext,
  typed: TypedPromotionCode,
  show: (discount: { promotion_code: string } | { coupon: string } | null) => Promise<T>,
): Promise<T> {
  try {
    return await show(null)
  } catch (error) {
    const used = await findUsedUp(context, typed, error)
    if (!used) throw error
    const owed = await findReplacementState(context, used.code, used.customer)
    if (owed.is === 'nothing') throw error
    if (owed.is === 'given') return show({ promotion_code: owed.code.id })
    return show({ coupon: getReferencedId(used.code.promotion.coupon) ?? '' })
  }
}

interface UsedUpCode {
  readonly code: Stripe.PromotionCode
  readonly customer: string
}

/** Returns the code if it is used up, whatever message Stripe has sent. */
async function findUsedUp(
  { stripe }: StripeContext,
  { coupon: id, customerId: customer }: TypedPromotionCode,
  error: unknown,
): Promise<UsedUpCode | null> {
  const isRefused = isStripeRefusal(error) || isBillingError(error, 'promotion_code_refused')
  if (!id?.startsWith('promo_') || customer === null || !isRefused) return null
  try {
    const code = await stripe.promotionCodes.retrieve(id, {
      expand: ['restrictions.currency_options'],
    })
    return isUsedUp(code) ? { code, customer } : null
  } catch (failed) {
    if (isStripeRefusal(failed)) return null
    throw failed
  }
}

/**
 * Returns the id of the customer's replacement code, and creates the code if needed. `null` if the
 * customer has no claim to a replacement.
 */
async function findOrCreateReplacement(
  context: StripeContext,
  { code, customer }: UsedUpCode,
): Promise<string | null> {
  const owed = await findReplacementState(context, code, customer)
  if (owed.is === 'given') return owed.code.id
  if (owed.is !== 'lost') return null
  const before = owed.newest?.id
  try {
    const { id } = await createIdempotently(
      `${before ?? code.id}:${customer}:given-back`,
      (request) => context.stripe.promotionCodes.create(replacementParams(code, customer), request),
      async () => {
        const [newest] = await listReplacementCodes(context, code, customer)
        return newest && newest.id !== before ? newest : null
      },
    )
    return id
  } catch (error) {
    // The coupon may be invalid by now, and a restricted API key may not create codes.
    const { type } = error as { readonly type?: unknown }
    if (isStripeRefusal(error) || type === 'StripePermissionError') return null
    throw error
  }
}

function replacementParams(
  code: Stripe.PromotionCode,
  customer: string,
): Stripe.PromotionCodeCreateParams {
  const { promotion, restrictions, expires_at: expiresAt } = code
  const { minimum_amount: least, minimum_amount_currency: leastIn } = restrictions
  // Stripe lists its own currency among the options, and rejects it there.
  const others = Object.entries(restrictions.currency_options ?? {}).filter(
    ([currency]) => currency !== leastIn,
  )
  return {
    promotion: { type: 'coupon', coupon: getReferencedId(promotion.coupon) ?? '' },
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
    metadata: { ...code.metadata, [REPLACED_CODE_KEY]: code.id },
  }
}

/**
 * Metadata key of a replacement promotion code. Its value is the id of the code that it replaces.
 */
export const REPLACED_CODE_KEY = 'in_place_of'

/**
 * Metadata key of a subscription. Its value is the id of the replacement code that was used; the
 * key `coupon` has the code that the customer typed.
 */
export const REPLACEMENT_CODE_KEY = 'given_back'

/**
 * Whether a customer may use a promotion code again although it has reached its limit. Stripe
 * counts a code as used when a subscription is created, even if its first payment is never made.
 * `nothing`: the customer has no claim to a replacement. `waiting`: the first payment may still be
 * made. `given`: there is a replacement code that is not used yet. `lost`: the customer's last use
 * of the code ended without a payment, so a replacement has to be created.
 */
export type ReplacementState =
  | { readonly is: 'nothing' | 'waiting' }
  | { readonly is: 'given'; readonly code: Stripe.PromotionCode }
  | { readonly is: 'lost'; readonly newest: Stripe.PromotionCode | null }

const NOTHING: ReplacementState = { is: 'nothing' }

/**
 * Reads the state of a promotion code that has reached its limit: whether this customer may use it
 * again, by a replacement code.
 */
export async function findReplacementState(
  context: StripeContext,
  code: Stripe.PromotionCode,
  customer: string,
): Promise<ReplacementState> {
  const given = await listReplacementCodes(context, code, customer)
  const listed = context.stripe.subscriptions.list({
    customer,
    status: 'all',
    limit: 100,
    expand: ['data.latest_invoice', 'data.discounts'],
  })
  return computeReplacementState(code.id, given, await listAll(listed))
}

/**
 * Computes whether a customer may use a promotion code again although it has reached its limit. A
 * customer who has paid with the code may not. Otherwise the customer has one use at a time: a
 * replacement is only created after the last use was lost, so that uses cannot be accumulated.
 * `replacementCodes` must be sorted newest first.
 */
export function computeReplacementState(
  code: string,
  replacementCodes: readonly Stripe.PromotionCode[],
  subscriptions: readonly Stripe.Subscription[],
): ReplacementState {
  const codes = [code, ...replacementCodes.map(({ id }) => id)]
  const uses = subscriptions.filter((each) => usesAnyCode(each, codes))
  const lost = uses.filter(endedWithoutPayment)
  const running = uses.filter((each) => !lost.includes(each))
  if (running.some(({ status }) => status !== 'incomplete')) return NOTHING
  if (running.length > 0) return { is: 'waiting' }
  const newest = replacementCodes[0] ?? null
  if (newest?.active && newest.times_redeemed === 0) return { is: 'given', code: newest }
  const last = newest?.id ?? code
  return lost.some((each) => codeUsedBy(each) === last) ? { is: 'lost', newest } : NOTHING
}

/** Lists the replacement codes that a customer got for a promotion code, newest first. */
export async function listReplacementCodes(
  { stripe }: StripeContext,
  { id, promotion }: Stripe.PromotionCode,
  customer: string,
): Promise<Stripe.PromotionCode[]> {
  const coupon = getReferencedId(promotion.coupon)
  if (coupon === null) return []
  const { data } = await stripe.promotionCodes.list({ coupon, customer, limit: 100 })
  return data.filter(({ metadata }) => metadata?.[REPLACED_CODE_KEY] === id)
}

/**
 * Whether the promotion code has reached its own limit of uses. Its coupon may have another limit.
 */
export function isUsedUp({
  max_redemptions: most,
  times_redeemed: used,
}: Stripe.PromotionCode): boolean {
  return most !== null && used >= most
}

function codeUsedBy({ metadata }: Stripe.Subscription): string | undefined {
  return metadata[REPLACEMENT_CODE_KEY] ?? metadata.coupon
}

/** Whether a subscription uses one of the codes, from its start or applied later. */
function usesAnyCode(subscription: Stripe.Subscription, codes: readonly string[]): boolean {
  if (codes.includes(codeUsedBy(subscription) ?? '')) return true
  return subscription.discounts.some(
    (each) =>
      typeof each !== 'string' && codes.includes(getReferencedId(each.promotion_code) ?? ''),
  )
}

/** Whether the subscription ended without its first payment. */
function endedWithoutPayment({ status, latest_invoice: invoice }: Stripe.Subscription): boolean {
  if (status === 'incomplete_expired') return true
  if (status !== 'canceled' || typeof invoice !== 'object' || invoice === null) return false
  return invoice.billing_reason === 'subscription_create' && invoice.status === 'void'
}
