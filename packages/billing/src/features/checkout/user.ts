import { requireKnownPrice, requireProvider } from '../../core/known-prices.ts'
import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import type { UserScope, UserScopeWith } from '../../core/user-scope.ts'
import type { Amount } from '../../core/values/money.ts'
import { formatOwnerKey } from '../../core/values/owner.ts'
import { requireCapability } from '../../providers/gateway-parts.ts'
import { Subscription } from '../../subscription.ts'
import { requireCodeText, requirePromotionCode } from '../promotion-codes/promotion-codes.ts'
import { type Checkout, toCheckout } from './checkout.ts'
import {
  type CheckoutItem,
  type CheckoutOptions,
  type CheckoutPageOptions,
  type CheckoutRequest,
  parseCheckoutRequest,
} from './checkout-request.ts'
import { closeCheckouts } from './close-checkouts.ts'
import { completeCheckout } from './complete-checkout.ts'
import type { CheckoutPaymentStatus, ProviderCheckout } from './contract.ts'
import { readCheckoutPaymentStatus } from './events.ts'
import { openCheckout } from './open-checkout.ts'
import { findOwnedCheckout } from './own-checkout.ts'

/** Options for `checkoutCharge()`. */
export interface ChargePageOptions extends CheckoutPageOptions {
  /**
   * Number of units to sell.
   * @default 1
   */
  readonly quantity?: number
  /**
   * Whether the payment gets an invoice, which `invoices()` lists.
   * @default false
   */
  readonly invoice?: boolean
}

/** The result of a hosted checkout page. */
export interface CheckoutResult {
  /** The provider's id of the page. */
  readonly id: string
  /**
   * Status of the page. `open`: it waits for the customer. `complete`: the customer has finished.
   * `expired`: it can no longer be used.
   */
  readonly status: 'open' | 'complete' | 'expired'
  /** Whether the payment on the page has arrived. `false` while a bank debit is pending. */
  readonly isPaid: boolean
  /**
   * State of the payment on the page. `none`: nothing is due. `pending`: the money has not arrived
   * yet, and the payment may still fail.
   */
  readonly paymentStatus: CheckoutPaymentStatus
  /**
   * The provider's id of a single payment, which `refund()` accepts. `null` if nothing was paid, or
   * if the page started a subscription.
   */
  readonly payment: string | null
  /** The provider's id of the invoice for the payment. `null` if there is no invoice. */
  readonly invoice: string | null
  /** The subscription that the page started. `null` if there is no subscription. */
  readonly subscription: Subscription | null
}

export async function openCheckoutPage(
  user: UserScopeWith<'checkout'>,
  items: string | readonly CheckoutItem[],
  options: CheckoutOptions,
): Promise<Checkout> {
  const gateway = await user.gateway()
  const request = parseCheckoutRequest(items, options, (amount) => gateway.toMoney(amount))
  const { promotionCode: code } = options
  const wanted =
    code === undefined ? request : { ...request, discount: await findCheckoutDiscount(user, code) }
  const provider = requireProvider(user.context, user.provider)
  if (wanted.subscription?.anchorAt) requireCapability(provider, 'anchors')
  const [main] = wanted.lines
  if (wanted.subscription && main && 'price' in main) {
    requireKnownPrice(provider, main.price)
  }
  try {
    return await openCheckout(user.context, user.user.record, user.provider, wanted)
  } finally {
    await user.user.reload()
  }
}

/** Looks up, at the provider, the promotion code that the customer typed. */
async function findCheckoutDiscount(
  { context, user, provider }: UserScopeWith<'checkout'>,
  code: string,
): Promise<CheckoutRequest['discount']> {
  const text = requireCodeText(code)
  requireCapability(requireProvider(context, provider), 'promotionCodes')
  const typed = { text, typedBy: user.record, provider }
  return { promotionCode: await requirePromotionCode(context, typed) }
}

export function checkoutCharge(
  user: UserScopeWith<'checkout'>,
  item: { readonly amount: Amount; readonly name: string },
  { quantity = 1, ...options }: ChargePageOptions,
): Promise<Checkout> {
  return openCheckoutPage(user, [{ ...item, quantity }], { ...options, mode: 'payment' })
}

export async function findUserCheckout(
  user: UserScopeWith<'checkout'>,
  id: unknown,
): Promise<Checkout | null> {
  const { context, owner, provider } = user
  const asking = { owner, provider, customerId: await user.findCustomerId() }
  const found = await findOwnedCheckout(context, asking, id)
  return found && toCheckout(context, { owner, provider }, found)
}

export async function completeUserCheckout(
  user: UserScopeWith<'checkout'>,
  id: unknown,
): Promise<CheckoutResult> {
  const { context, provider } = user
  const returning = { owner: user.owner, provider, customerId: await user.findCustomerId() }
  const found = await completeCheckout(context, returning, id)
  return toCheckoutResult(user, found)
}

/**
 * Returns the result of a hosted checkout page. The subscription that the page started is read from
 * our database.
 */
export async function toCheckoutResult(
  user: UserScope,
  providerCheckout: ProviderCheckout,
): Promise<CheckoutResult> {
  const { context, provider } = user
  const record = await user.user.reload()
  const made = providerCheckout.subscriptionId
    ? await context.subscriptions.findByProvider(provider, providerCheckout.subscriptionId)
    : null
  // The subscription may have been transferred to another owner since.
  const row = made && formatOwnerKey(made.owner) === formatOwnerKey(user.owner) ? made : null
  return {
    id: providerCheckout.id,
    status: providerCheckout.status,
    isPaid: providerCheckout.isPaid,
    paymentStatus: readCheckoutPaymentStatus(providerCheckout),
    payment: providerCheckout.paymentId ?? null,
    invoice: providerCheckout.invoiceId ?? null,
    subscription: row ? new Subscription(context, record, row) : null,
  }
}

export async function closeOpenCheckouts({ context, owner, user }: UserScope): Promise<void> {
  await withOwnerLock(context, owner, async (locked) => {
    const begun = await resumeInterrupted(context, locked)
    await closeCheckouts(context, locked, begun)
  })
  await user.reload()
}
