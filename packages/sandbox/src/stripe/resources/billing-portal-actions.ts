import type Stripe from 'stripe'
import { isSoldIn } from '../catalog/currency-options.ts'
import { finalizeInvoice } from '../invoices/invoice-payment.ts'
import { setDefaultMethod } from '../payments/customer.ts'
import { resolvePaymentMethod } from '../payments/new-payment-method.ts'
import { attachPaymentMethod } from '../payments/payment-methods.ts'
import type { StripeContext } from '../state/context.ts'
import type {
  CustomerRow,
  PaymentMethodRow,
  PortalConfigurationRow,
  PriceRow,
  SubscriptionRow,
} from '../state/rows.ts'
import { dryRun, type UnitOfWork } from '../state/unit-of-work.ts'
import { listSubscriptionItems } from '../subscriptions/subscription-swap.ts'
import { applyUpdate, updateSubscription } from '../subscriptions/subscription-update.ts'
import { draftNextInvoice } from '../subscriptions/upcoming-invoice.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { cancelNow } from './subscriptions.ts'

/**
 * A change of plan by a customer in the portal. The portal's configuration limits the possible
 * changes.
 */

export interface PlanChange {
  readonly price: string
  readonly quantity: number
  readonly discounts?: ReadonlyArray<{ coupon?: string; promotion_code?: string }>
}

export interface CancelForm {
  readonly feedback?: string
  readonly comment?: string
}

/**
 * Whether a subscription is scheduled to end. In flexible billing mode, the portal sets only
 * `cancel_at`.
 */
export function isSubscriptionEnding(subscription: SubscriptionRow): boolean {
  return subscription.cancel_at_period_end || subscription.cancel_at !== null
}

export function cancelAsCustomer(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  { features }: PortalConfigurationRow,
  form: CancelForm,
): void {
  const {
    enabled,
    mode,
    proration_behavior: proration,
    cancellation_reason: reason,
  } = features.subscription_cancel
  if (!enabled) throw createNotOfferedFault()
  const details = reason.enabled ? form : {}
  const cancellation_details = details as Stripe.SubscriptionUpdateParams.CancellationDetails
  if (mode === 'immediately') {
    const prorate = proration !== 'none'
    cancelNow(work, subscription, {
      cancellation_details,
      prorate,
      invoice_now: proration === 'always_invoice',
    })
    return
  }
  const flexible = subscription.billing_mode.type === 'flexible'
  updateSubscription(work, subscription, {
    ...(flexible ? { cancel_at: 'max_period_end' } : { cancel_at_period_end: true }),
    cancellation_details,
    proration_behavior: 'none',
  })
}

/**
 * Applies the coupon of a retention offer to a subscription. The customer keeps the subscription.
 */
export function acceptRetentionOffer(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  coupon: string,
): void {
  updateSubscription(work, subscription, { discounts: [{ coupon }] })
}

export function renewAsCustomer(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  { features }: PortalConfigurationRow,
): void {
  if (!features.subscription_cancel.enabled) throw createNotOfferedFault()
  updateSubscription(work, subscription, {
    ...(subscription.cancel_at_period_end ? { cancel_at_period_end: false } : { cancel_at: '' }),
    proration_behavior: 'none',
  })
}

/** Returns the prices to which a customer may switch in the portal, with the allowed quantities. */
export function findPlanOffers(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  { features }: PortalConfigurationRow,
): ReadonlyArray<{
  readonly price: PriceRow
  readonly quantities: { least: number; most: number } | null
}> {
  const { products, default_allowed_updates: allowed } = features.subscription_update
  const [item] = listSubscriptionItems(work, subscription)
  const own = work.require('price', item?.price ?? '')
  const listed = (products ?? []).flatMap(({ prices }) => prices)
  const offered = products
    ? listed.flatMap((id) => work.find('price', id) ?? [])
    : [...work.tables.price.values()]
  const changing = allowed.includes('price')
    ? offered.filter(
        (price) => price.active && price.recurring && isSoldIn(price, subscription.currency),
      )
    : []
  const all = changing.some((price) => price.id === own.id) ? changing : [own, ...changing]
  return all.map((price) => {
    const product = products?.find(({ prices }) => prices.includes(price.id))
    const {
      enabled = products === null,
      minimum = 1,
      maximum = null,
    } = product?.adjustable_quantity ?? {}
    const free = allowed.includes('quantity') && enabled
    return {
      price,
      quantities: free ? { least: Math.max(1, minimum), most: maximum ?? 999_999 } : null,
    }
  })
}

/**
 * Checks that the portal's configuration allows a change of plan.
 * @throws {StripeFault} If the price or quantity is not offered.
 */
export function checkPlanOffered(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  configuration: PortalConfigurationRow,
  change: PlanChange,
  path: string,
): void {
  const offer = findPlanOffers(work, subscription, configuration).find(
    ({ price }) => price.id === change.price,
  )
  if (!offer) {
    work.require('price', change.price, `${path}[price]`)
    throw createInvalidRequestFault(
      `The price ${change.price} is not among the \`features.subscription_update.products\` of the portal configuration.`,
      `${path}[price]`,
    )
  }
  const now = listSubscriptionItems(work, subscription)[0]?.quantity ?? 1
  const { least, most } = offer.quantities ?? { least: now, most: now }
  if (!Number.isSafeInteger(change.quantity) || change.quantity < least || change.quantity > most) {
    throw createInvalidRequestFault(
      least === most
        ? 'The portal configuration does not allow another quantity.'
        : `The quantity must be between ${least} and ${most}.`,
      `${path}[quantity]`,
    )
  }
}

export function changePlan(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  configuration: PortalConfigurationRow,
  change: PlanChange,
): void {
  const params = toUpdate(work, subscription, configuration, change)
  updateSubscription(
    work,
    subscription,
    { ...params, payment_behavior: 'error_if_incomplete' },
    { authenticated: true },
  )
}

export interface PlanPreview {
  readonly currency: string
  /** Amount in minor units that is charged immediately. */
  readonly dueNow: number
  /**
   * Total and date of the invoice after the change of plan. `null` if the subscription ends before
   * that invoice.
   */
  readonly next: { readonly total: number; readonly at: number } | null
}

/** Previews a change of plan: applies the change, reads the amounts and rolls everything back. */
export function previewPlan(
  context: StripeContext,
  id: string,
  configuration: PortalConfigurationRow,
  change: PlanChange,
): PlanPreview {
  return dryRun(context, { about: [id] }, (trial) => {
    const subscription = trial.require('subscription', id)
    const params = toUpdate(trial, subscription, configuration, change)
    const { invoice } = applyUpdate(trial, subscription, params)
    if (invoice) finalizeInvoice(trial, invoice)
    const dueNow = invoice?.amount_due ?? 0
    const { currency } = subscription
    if (isSubscriptionEnding(subscription)) return { currency, dueNow, next: null }
    const next = draftNextInvoice(trial, subscription)
    return { currency, dueNow, next: { total: next.amount_due, at: next.created } }
  })
}

function toUpdate(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  configuration: PortalConfigurationRow,
  change: PlanChange,
): Stripe.SubscriptionUpdateParams {
  const feature = configuration.features.subscription_update
  if (!feature.enabled) throw createNotOfferedFault()
  checkPlanOffered(work, subscription, configuration, change, 'items[0]')
  const [item] = listSubscriptionItems(work, subscription)
  const endsTrial =
    subscription.status === 'trialing' && feature.trial_update_behavior === 'end_trial'
  return {
    items: [{ id: item?.id ?? '', price: change.price, quantity: change.quantity }],
    proration_behavior: feature.proration_behavior,
    ...(feature.billing_cycle_anchor === 'now' ? { billing_cycle_anchor: { type: 'now' } } : {}),
    ...(endsTrial ? { trial_end: 'now' } : {}),
    ...(change.discounts ? { discounts: [...change.discounts] } : {}),
  }
}

/** Adds a card to a customer and makes it the default payment method for invoices. */
export function addCard(work: UnitOfWork, customer: CustomerRow, card: string): PaymentMethodRow {
  const method = resolvePaymentMethod(work, card, 'payment_method')
  attachPaymentMethod(work, method, customer)
  work.edit('payment_method', method).$.authenticated = true
  setDefaultMethod(work, customer, method.id)
  return method
}

function createNotOfferedFault() {
  return createInvalidRequestFault('The portal configuration does not offer this.')
}
