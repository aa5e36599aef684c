import type Stripe from 'stripe'
import type { RequestedItem } from '../../providers/item.ts'
import { getReferencedId, type StripeContext } from '../../providers/stripe/client.ts'
import { retrieveSubscription } from '../../providers/stripe/describe-subscription.ts'
import { isStripeRefusal } from '../../providers/stripe/errors.ts'
import {
  hasPendingUpdateLapsed,
  type PendingUpdateState,
  type PreviousTax,
  readUpdateState,
  removeUpdateState,
  writeUpdateState,
} from '../../providers/stripe/held-change.ts'
import { requireDefaultMethod } from '../customers/stripe.ts'
import { voidInvoice } from '../invoices/stripe-void.ts'
import { findInvoicePayment } from '../payments/stripe.ts'
import { haveSamePrices, listSubscriptionPriceItems } from '../swap/stripe-change-params.ts'
import { buildTaxRatesParam, listTaxRateIds } from '../taxes/stripe-chosen-tax.ts'

/**
 * Returns the id of the unpaid invoice of a pending update, `null` if there is none. Stripe applies
 * a pending update when this invoice is paid, and discards it after a day at most.
 */
export function getPendingUpdateInvoice({
  pending_update,
  latest_invoice,
}: Stripe.Subscription): string | null {
  return pending_update ? getReferencedId(latest_invoice) : null
}

/**
 * Returns the prices that the subscription will have once its pending update is paid. Stripe itself
 * lists only the prices that change.
 */
export function listPendingUpdateItems(subscription: Stripe.Subscription): RequestedItem[] {
  const { pending_update: held, items, metadata } = subscription
  const changed = held?.subscription_items ?? []
  const kept = items.data.map((item) => changed.find(({ id }) => id === item.id) ?? item)
  const added = changed.filter(({ id }) => !items.data.some((item) => item.id === id))
  return listSubscriptionPriceItems({
    ...subscription,
    items: { ...items, data: [...kept, ...added] },
    metadata: { ...metadata, ...held?.metadata },
  })
}

/**
 * Whether the invoice's payment waits for the customer to authenticate it, with the card that is
 * their default now.
 */
export async function isInvoiceAwaitingAuthentication(
  context: StripeContext,
  invoice: string,
  customer: Stripe.Subscription['customer'],
): Promise<boolean> {
  const payment = await findInvoicePayment(context, invoice)
  if (payment?.status !== 'requires_action') return false
  return (
    getReferencedId(payment.payment_method) ===
    (await requireDefaultMethod(context, getReferencedId(customer) ?? ''))
  )
}

/**
 * Discards a subscription's pending update, or the remains of an expired one, so that it can no
 * longer be paid. If it is paid at the same moment, the update is kept.
 */
export async function discardPendingUpdate(
  context: StripeContext,
  subscription: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  const invoice = getPendingUpdateInvoice(subscription)
  if (invoice === null) return restorePreviousTaxes(context, subscription)
  await voidInvoice(context, invoice)
  return restorePreviousTaxes(context, await retrieveSubscription(context.stripe, subscription.id))
}

type Params = Stripe.SubscriptionUpdateParams

/**
 * Returns metadata that stores the taxes from before a change that waits for payment
 * authentication. Stripe cannot delay a change of taxes, so the taxes change first. The request
 * that changes them also writes the metadata, and the pending update removes the metadata when it
 * is paid. Because both happen in one request, a crash in between cannot lose the old taxes, as it
 * could if they were stored in our database.
 */
export function encodePreviousTaxes(
  current: Stripe.Subscription,
  { tax, change }: { readonly tax: Params; readonly change: Params },
): Stripe.Metadata {
  const { metadata } = current
  return writeUpdateState(metadata, {
    before: keepEarlierValues(
      readUpdateState(metadata)?.before ?? {},
      readCurrentTaxes(current, tax),
    ),
    wanted: listItemsAfterUpdate(current, change),
    endsTrial: change.trial_end === 'now',
    trialEnd: current.trial_end,
  })
}

/** Returns the subscription's current taxes, as far as these params change them. */
function readCurrentTaxes(
  { automatic_tax, default_tax_rates, items }: Stripe.Subscription,
  tax: Params,
): PreviousTax {
  const named = (tax.items ?? []).map(({ id }) => id)
  const rated = items.data.filter(({ id }) => named.includes(id))
  return {
    ...(tax.automatic_tax ? { automatic_tax: { enabled: automatic_tax.enabled } } : {}),
    ...(tax.default_tax_rates === undefined
      ? {}
      : { default_tax_rates: buildTaxRatesParam(listTaxRateIds(default_tax_rates)) }),
    items: rated.map(({ id, tax_rates }) => ({
      id,
      tax_rates: buildTaxRatesParam(listTaxRateIds(tax_rates)),
    })),
  }
}

/**
 * Merges the remembered taxes. If both changes found a tax of the same item, the tax found by the
 * earlier change is kept, because it is the original one.
 */
function keepEarlierValues(first: PreviousTax, found: PreviousTax): PreviousTax {
  const known = first.items ?? []
  const others = (found.items ?? []).filter(({ id }) => !known.some((item) => item.id === id))
  return { ...found, ...first, items: [...known, ...others] }
}

function listItemsAfterUpdate({ items }: Stripe.Subscription, { items: changes = [] }: Params) {
  const kept = items.data.map(({ id, price, quantity }) => {
    const change = changes.find((item) => item.id === id)
    const count = change ? change.quantity : quantity
    return { price: change?.price ?? price.id, quantity: count ?? null }
  })
  const added = changes
    .filter(({ id }) => id === undefined)
    .map(({ price = '', quantity }) => ({ price, quantity: quantity ?? null }))
  return [...kept, ...added]
}

/**
 * Restores the taxes from before a change that waited for payment authentication and expired
 * unpaid. Does nothing if the change was paid.
 */
export async function restorePreviousTaxes(
  context: StripeContext,
  current: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  if (!hasPendingUpdateLapsed(current)) return current
  const { stripe, warn } = context
  const { id, metadata } = current
  const reason = await tryToRestore(context, current)
  if (reason !== null) {
    warn(
      `Subscription ${id} has the tax of a change that was never paid, because the previous tax cannot be restored. Check the customer's address and the subscription's tax rates at Stripe, then call syncTaxPercentage()`,
      reason,
    )
    // Without the metadata the change counts as over, so that it blocks no later one.
    await stripe.subscriptions.update(id, { metadata: removeUpdateState(metadata) })
  }
  return retrieveSubscription(stripe, id)
}

/**
 * Restores the taxes. If Stripe refuses, because a tax rate was archived or the address was
 * removed, returns the error, otherwise `null`.
 */
async function tryToRestore(
  { stripe }: StripeContext,
  current: Stripe.Subscription,
): Promise<unknown> {
  const { id, metadata } = current
  const remembered = readUpdateState(metadata)
  if (remembered === null)
    return new Error(`The metadata of ${id} no longer contains the previous tax`)
  const tax = hasMadeChange(current, remembered)
    ? {}
    : withoutRemovedItems(current, remembered.before)
  const update = { metadata: removeUpdateState(metadata), proration_behavior: 'none' } as const
  try {
    await stripe.subscriptions.update(id, { ...tax, ...update })
    return null
  } catch (error) {
    if (isStripeRefusal(error)) return error
    throw error
  }
}

/**
 * Whether the wanted change was made: the subscription has the wanted prices, and its trial was
 * ended if the change was to end it. Other differences are ignored, because later changes have
 * caused them.
 */
function hasMadeChange(current: Stripe.Subscription, remembered: PendingUpdateState): boolean {
  const { wanted, endsTrial, trialEnd } = remembered
  // A trial can also have ended on its planned date.
  const wasEnded = trialEnd !== null && current.trial_end !== null && current.trial_end < trialEnd
  return haveSamePrices(listSubscriptionPriceItems(current), wanted) && (!endsTrial || wasEnded)
}

function withoutRemovedItems(
  { items }: Stripe.Subscription,
  { items: rated = [], ...whole }: PreviousTax,
) {
  const left = rated.filter(({ id }) => items.data.some((item) => item.id === id))
  return { ...whole, ...(left.length > 0 ? { items: left } : {}) }
}
