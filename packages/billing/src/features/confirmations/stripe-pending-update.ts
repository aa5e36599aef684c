import type Stripe from 'stripe'
import type { WantedItem } from '../../providers/item.ts'
import { idOf, type StripeContext } from '../../providers/stripe/client.ts'
import { retrieve } from '../../providers/stripe/describe-subscription.ts'
import { isRefusal } from '../../providers/stripe/errors.ts'
import {
  forget,
  type HeldChange,
  hasLapsed,
  read,
  type TaxBefore,
  write,
} from '../../providers/stripe/held-change.ts'
import { requireMethod } from '../customers/stripe.ts'
import { voidInvoice } from '../invoices/stripe-void.ts'
import { paymentOf } from '../payments/stripe.ts'
import { haveSamePrices, itemsOf } from '../swap/stripe-change-params.ts'
import { idsOf, ratesParam } from '../taxes/stripe-chosen-tax.ts'

/**
 * Returns the unpaid invoice of a pending update, which Stripe delays until it is paid, for a day
 * at most. `null` if there is none. Until it is paid, the subscription stays unchanged.
 */
export function pendingUpdateInvoice({
  pending_update,
  latest_invoice,
}: Stripe.Subscription): string | null {
  return pending_update ? idOf(latest_invoice) : null
}

/** Returns the items after a pending update is paid. Stripe lists only those that change. */
export function pendingUpdateItems(subscription: Stripe.Subscription): WantedItem[] {
  const { pending_update: held, items, metadata } = subscription
  const changed = held?.subscription_items ?? []
  const kept = items.data.map((item) => changed.find(({ id }) => id === item.id) ?? item)
  const added = changed.filter(({ id }) => !items.data.some((item) => item.id === id))
  return itemsOf({
    ...subscription,
    items: { ...items, data: [...kept, ...added] },
    metadata: { ...metadata, ...held?.metadata },
  })
}

/**
 * Whether the invoice's payment waits for the customer's authentication, with their current card.
 */
export async function awaitsAuthentication(
  context: StripeContext,
  invoice: string,
  customer: Stripe.Subscription['customer'],
): Promise<boolean> {
  const payment = await paymentOf(context, invoice)
  if (payment?.status !== 'requires_action') return false
  return idOf(payment.payment_method) === (await requireMethod(context, idOf(customer) ?? ''))
}

/**
 * Discards a pending update, or what an expired one left behind, so that it can no longer be paid.
 * If it is paid concurrently, the update is kept.
 */
export async function discardPendingUpdate(
  context: StripeContext,
  subscription: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  const invoice = pendingUpdateInvoice(subscription)
  if (invoice === null) return restoreTaxes(context, subscription)
  await voidInvoice(context, invoice)
  return restoreTaxes(context, await retrieve(context.stripe, subscription.id))
}

type Params = Stripe.SubscriptionUpdateParams

/**
 * Returns metadata that remembers the taxes before a change that waits for authentication. Stripe
 * cannot delay taxes, so they change first. The call that changes them writes the metadata, and the
 * pending update removes it when it is paid. A process that crashes in between leaves both or
 * neither, and every reader of the subscription finds the old taxes. A row of ours could not ensure
 * that.
 */
export function rememberTaxes(
  current: Stripe.Subscription,
  { tax, change }: { readonly tax: Params; readonly change: Params },
): Stripe.Metadata {
  const { metadata } = current
  return write(metadata, {
    before: withFirst(read(metadata)?.before ?? {}, taxesBefore(current, tax)),
    wanted: wantedOf(current, change),
    endsTrial: change.trial_end === 'now',
    trialEnd: current.trial_end,
  })
}

/** Returns the subscription's current taxes, as far as these params change them. */
function taxesBefore(
  { automatic_tax, default_tax_rates, items }: Stripe.Subscription,
  tax: Params,
): TaxBefore {
  const named = (tax.items ?? []).map(({ id }) => id)
  const rated = items.data.filter(({ id }) => named.includes(id))
  return {
    ...(tax.automatic_tax ? { automatic_tax: { enabled: automatic_tax.enabled } } : {}),
    ...(tax.default_tax_rates === undefined
      ? {}
      : { default_tax_rates: ratesParam(idsOf(default_tax_rates)) }),
    items: rated.map(({ id, tax_rates }) => ({ id, tax_rates: ratesParam(idsOf(tax_rates)) })),
  }
}

/**
 * Merges the remembered taxes: those found by an earlier change win, because they are the original
 * ones.
 */
function withFirst(first: TaxBefore, found: TaxBefore): TaxBefore {
  const known = first.items ?? []
  const others = (found.items ?? []).filter(({ id }) => !known.some((item) => item.id === id))
  return { ...found, ...first, items: [...known, ...others] }
}

function wantedOf({ items }: Stripe.Subscription, { items: changes = [] }: Params) {
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

/** Restores the taxes from before a change that expired unpaid. Does nothing if it was paid. */
export async function restoreTaxes(
  context: StripeContext,
  current: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  if (!hasLapsed(current)) return current
  const { stripe, warn } = context
  const { id, metadata } = current
  const reason = await tryToRestore(context, current)
  if (reason !== null) {
    warn(
      `Subscription ${id} has the tax of a change that nobody paid, because the one before it cannot be put back. See to its customer's address and its tax rates at Stripe, then call syncTaxPercentage()`,
      reason,
    )
    // Without the metadata the change counts as over, so that it blocks no later one.
    await stripe.subscriptions.update(id, { metadata: forget(metadata) })
  }
  return retrieve(stripe, id)
}

/**
 * Restores the taxes. Returns `null`, or Stripe's refusal: a tax rate was archived, or the address
 * was removed.
 */
async function tryToRestore(
  { stripe }: StripeContext,
  current: Stripe.Subscription,
): Promise<unknown> {
  const { id, metadata } = current
  const remembered = read(metadata)
  if (remembered === null) return new Error(`The metadata of ${id} does not say it any more`)
  const tax = isMade(current, remembered) ? {} : withoutRemovedItems(current, remembered.before)
  const update = { metadata: forget(metadata), proration_behavior: 'none' } as const
  try {
    await stripe.subscriptions.update(id, { ...tax, ...update })
    return null
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

/** Whether the wanted change was made. Other differences come from other changes since. */
function isMade(current: Stripe.Subscription, remembered: HeldChange): boolean {
  const { wanted, endsTrial, trialEnd } = remembered
  // A trial can also have ended on its planned date.
  const wasEnded = trialEnd !== null && current.trial_end !== null && current.trial_end < trialEnd
  return haveSamePrices(itemsOf(current), wanted) && (!endsTrial || wasEnded)
}

function withoutRemovedItems(
  { items }: Stripe.Subscription,
  { items: rated = [], ...whole }: TaxBefore,
) {
  const left = rated.filter(({ id }) => items.data.some((item) => item.id === id))
  return { ...whole, ...(left.length > 0 ? { items: left } : {}) }
}
