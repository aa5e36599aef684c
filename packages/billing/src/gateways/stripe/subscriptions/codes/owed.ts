import type Stripe from 'stripe'
import { idOf, type StripeContext } from '../../sdk/client.ts'

/** Under which a code names the one that it is in place of. */
export const IN_PLACE_OF = 'in_place_of'

/** Under which a subscription names the code that was sent for it; its `coupon` is the one that was typed. */
export const GIVEN_BACK = 'given_back'

/**
 * Stripe counts a code as used when a subscription is made, also where its first payment never comes. What a customer still
 * has of a code that is used up: nothing; a use that may yet be paid; one that was given back, as a code of their own; or
 * one to be given back.
 */
export type Owed =
  | { readonly is: 'nothing' | 'waiting' }
  | { readonly is: 'given'; readonly code: Stripe.PromotionCode }
  | { readonly is: 'lost'; readonly newest: Stripe.PromotionCode | null }

const NOTHING: Owed = { is: 'nothing' }

/** The code must be used up. */
export async function findOwed(
  context: StripeContext,
  code: Stripe.PromotionCode,
  customer: string,
): Promise<Owed> {
  const given = await listGiven(context, code, customer)
  const subscriptions: Stripe.Subscription[] = []
  const listed = context.stripe.subscriptions.list({
    customer,
    status: 'all',
    limit: 100,
    expand: ['data.latest_invoice', 'data.discounts'],
  })
  for await (const each of listed) subscriptions.push(each)
  return owedOf(code.id, given, subscriptions)
}

/**
 * Whoever has paid with it has had it. Otherwise there is one use at a time, and another one only after the last one was
 * lost, so that nobody saves them up. What was given back is listed with the newest first.
 */
export function owedOf(
  code: string,
  given: readonly Stripe.PromotionCode[],
  subscriptions: readonly Stripe.Subscription[],
): Owed {
  const codes = [code, ...given.map(({ id }) => id)]
  const uses = subscriptions.filter((each) => carries(each, codes))
  const lost = uses.filter(isLost)
  const running = uses.filter((each) => !lost.includes(each))
  if (running.some(({ status }) => status !== 'incomplete')) return NOTHING
  if (running.length > 0) return { is: 'waiting' }
  const newest = given[0] ?? null
  if (newest?.active && newest.times_redeemed === 0) return { is: 'given', code: newest }
  const last = newest?.id ?? code
  return lost.some((each) => sentFor(each) === last) ? { is: 'lost', newest } : NOTHING
}

/** Newest first. */
export async function listGiven(
  { stripe }: StripeContext,
  { id, promotion }: Stripe.PromotionCode,
  customer: string,
): Promise<Stripe.PromotionCode[]> {
  const coupon = idOf(promotion.coupon)
  if (coupon === null) return []
  const { data } = await stripe.promotionCodes.list({ coupon, customer, limit: 100 })
  return data.filter(({ metadata }) => metadata?.[IN_PLACE_OF] === id)
}

/** As often as it may be; Stripe may count its coupon's limit besides. */
export function isUsedUp({
  max_redemptions: most,
  times_redeemed: used,
}: Stripe.PromotionCode): boolean {
  return most !== null && used >= most
}

function sentFor({ metadata }: Stripe.Subscription): string | undefined {
  return metadata[GIVEN_BACK] ?? metadata.coupon
}

/** From its beginning, or applied later. */
function carries(subscription: Stripe.Subscription, codes: readonly string[]): boolean {
  if (codes.includes(sentFor(subscription) ?? '')) return true
  return subscription.discounts.some(
    (each) => typeof each !== 'string' && codes.includes(idOf(each.promotion_code) ?? ''),
  )
}

/** Its first payment never came, and never will. */
function isLost({ status, latest_invoice: invoice }: Stripe.Subscription): boolean {
  if (status === 'incomplete_expired') return true
  if (status !== 'canceled' || typeof invoice !== 'object' || invoice === null) return false
  return invoice.billing_reason === 'subscription_create' && invoice.status === 'void'
}
