import { closeCheckouts } from '../../consistency/close-checkouts.ts'
import { withOwnerLock } from '../../consistency/owner-lock.ts'
import { resumeInterrupted } from '../../consistency/resume-interrupted.ts'
import { requireCodeText, requirePromotionCode } from '../../customers/promotion-codes.ts'
import { paymentStatusOf } from '../../events/of-checkout.ts'
import type { CheckoutPaymentStatus } from '../../gateways/contract/parts/pages/checkout.ts'
import { requireCapability } from '../../gateways/contract/parts.ts'
import { type Checkout, toCheckout } from '../../pages/checkout.ts'
import {
  type CheckoutItem,
  type CheckoutOptions,
  type CheckoutPageOptions,
  type CheckoutRequest,
  requireCheckout,
} from '../../pages/checkout-request.ts'
import { completeCheckout } from '../../pages/complete-checkout.ts'
import { openCheckout } from '../../pages/open-checkout.ts'
import { findOwnCheckout } from '../../pages/own-checkout.ts'
import { requireKnownPlan, requireProvider } from '../../subscriptions/known-plans.ts'
import { Subscription } from '../../subscriptions/subscription.ts'
import type { Amount } from '../../values/money.ts'
import { ownerKey } from '../../values/owner.ts'
import type { UserHaving, UserScope } from '../user-scope.ts'

/** How a page for one payment is made. */
export interface ChargePageOptions extends CheckoutPageOptions {
  /** How many. Default 1. */
  readonly quantity?: number
  /** Whether there is an invoice of it, which `invoices()` lists. Default false. */
  readonly invoice?: boolean
}

/** What came of a hosted page. */
export interface CheckoutResult {
  /** The provider's id of the page. */
  readonly id: string
  /** Whether it still waits for the customer, was done, or can no longer be used. */
  readonly status: 'open' | 'complete' | 'expired'
  /** Whether the money is there; false while a bank takes its time. */
  readonly isPaid: boolean
  /** `none` for nothing to pay, `pending` while the money is not there yet; it may still fail. */
  readonly paymentStatus: CheckoutPaymentStatus
  /** The provider's id of what was paid once, for `refund()`; null for nothing, and for a subscription. */
  readonly payment: string | null
  /** The provider's id of the invoice; null for none. */
  readonly invoice: string | null
  /** The subscription that it made; null for none. */
  readonly subscription: Subscription | null
}

export async function checkout(
  user: UserHaving<'checkout'>,
  items: string | readonly CheckoutItem[],
  options: CheckoutOptions,
): Promise<Checkout> {
  const gateway = await user.gateway()
  const request = requireCheckout(items, options, (amount) => gateway.toMoney(amount))
  const { promotionCode: code } = options
  const wanted =
    code === undefined ? request : { ...request, discount: await discountOf(user, code) }
  const provider = requireProvider(user.context, user.provider)
  if (wanted.subscription?.anchorAt) requireCapability(provider, 'anchors')
  const [main] = wanted.lines
  if (wanted.subscription && main && 'price' in main) {
    requireKnownPlan(provider, main.price)
  }
  try {
    return await openCheckout(user.context, user.user.record, user.provider, wanted)
  } finally {
    await user.user.reload()
  }
}

/** The code that the customer has typed, as the provider knows it. */
async function discountOf(
  { context, user, provider }: UserHaving<'checkout'>,
  code: string,
): Promise<CheckoutRequest['discount']> {
  const text = requireCodeText(code)
  requireCapability(requireProvider(context, provider), 'promotionCodes')
  const typed = { text, typedBy: user.record, provider }
  return { promotionCode: await requirePromotionCode(context, typed) }
}

export function checkoutCharge(
  user: UserHaving<'checkout'>,
  item: { readonly amount: Amount; readonly name: string },
  { quantity = 1, ...options }: ChargePageOptions,
): Promise<Checkout> {
  return checkout(user, [{ ...item, quantity }], { ...options, mode: 'payment' })
}

export async function find(user: UserHaving<'checkout'>, id: unknown): Promise<Checkout | null> {
  const { context, owner, provider } = user
  const asking = { owner, provider, customerId: await user.findCustomerId() }
  const found = await findOwnCheckout(context, asking, id)
  return found && toCheckout(context, { owner, provider }, found)
}

export async function complete(user: UserHaving<'checkout'>, id: unknown): Promise<CheckoutResult> {
  const { context, provider } = user
  const returning = { owner: user.owner, provider, customerId: await user.findCustomerId() }
  const found = await completeCheckout(context, returning, id)
  const record = await user.user.reload()
  const made = found.subscriptionId
    ? await context.subscriptions.findByProvider(provider, found.subscriptionId)
    : null
  // It may have been given to another owner since.
  const row = made && ownerKey(made.owner) === ownerKey(user.owner) ? made : null
  return {
    id: found.id,
    status: found.status,
    isPaid: found.isPaid,
    paymentStatus: paymentStatusOf(found),
    payment: found.paymentId ?? null,
    invoice: found.invoiceId ?? null,
    subscription: row ? new Subscription(context, record, row) : null,
  }
}

export async function closeAll({ context, owner, user }: UserScope): Promise<void> {
  await withOwnerLock(context, owner, async (locked) => {
    const begun = await resumeInterrupted(context, locked)
    await closeCheckouts(context, locked, begun)
  })
  await user.reload()
}
