import type { Database } from '@tollgate/database'
import type { BillingContext } from '../../core/context.ts'
import { refreshSubscriptionRow } from '../../core/converge.ts'
import { isDefiniteFailure } from '../../core/errors/errors.ts'
import type { NewBillingEvent } from '../../core/events/billing-event.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { finishOperation } from '../../core/operation.ts'
import type { StoredOperation } from '../../core/storage/operations.ts'
import { storeTaxTerms } from '../../core/tax.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { isSubscriptionActive } from '../../core/values/subscription-state.ts'
import type { ProviderCustomer } from '../../providers/customer.ts'
import { setBilledCard } from '../payment-methods/set-billed-card.ts'
import type { ProviderCheckout } from './contract.ts'
import { createCheckoutEvents, readCheckoutPaymentStatus } from './events.ts'

/**
 * Updates our database with the result of a hosted checkout page, and finishes the stored operation
 * that created the page, unless the page is still open. If the provider has no such page, the
 * customer never saw it, and the operation is finished too.
 */
export async function applyCheckoutResult(
  context: BillingContext,
  locked: LockedOwner,
  operation: StoredOperation,
): Promise<ProviderCheckout | null> {
  const { provider } = operation.request
  const billed = await context.owners.find(locked.owner)
  if (!billed?.providerId || billed.provider !== provider) return null
  const gateway = await locked.gateway(provider)
  const found = (await gateway.checkout?.findByOperation(operation.id, billed.providerId)) ?? null
  if (found?.status === 'open') return found
  if (found?.status === 'complete') {
    await storeCheckoutSubscription(context, locked, operation, found)
    await storeEnteredCard(context, locked, provider, { ...found, customerId: billed.providerId })
  }
  const newEvents =
    found?.status === 'complete' ? await findCheckoutEvents(context, locked, provider, found) : []
  await finishOperation(context, locked, operation, async (tx) => {
    for (const event of newEvents) await context.events.record(tx, event)
    if (found) await storePendingPayment(context, locked, provider, found, tx)
  })
  return found
}

/**
 * Stores an operation for a checkout payment that is still pending, so that `sync()` finds the
 * result if the webhook is lost.
 */
export async function storePendingPayment(
  { operations, options }: BillingContext,
  { owner }: LockedOwner,
  provider: ProviderName,
  completedCheckout: ProviderCheckout,
  tx: Database,
): Promise<void> {
  const isAwaited = completedCheckout.status === 'complete' && completedCheckout.mode === 'payment'
  if (!isAwaited || readCheckoutPaymentStatus(completedCheckout) !== 'pending') return
  const request = { provider, page: completedCheckout.id }
  await operations.begin({ owner, kind: 'checkout_payment', request }, options.clock.now(), tx)
}

/**
 * Returns the events of a completed checkout page, and looks for other active subscriptions of the
 * same name. Our own pages let the customer pay only once for a name, but another subscription may
 * have been started in another way.
 */
export async function findCheckoutEvents(
  { subscriptions, options }: BillingContext,
  { owner }: LockedOwner,
  provider: ProviderName,
  found: ProviderCheckout,
): Promise<NewBillingEvent[]> {
  const made = await subscriptions.findByProvider(provider, found.subscriptionId ?? '')
  const now = options.clock.now()
  const others = (made ? await subscriptions.listByOwner(owner) : []).filter(
    (row) => row.name === made?.name && row.id !== made.id && isSubscriptionActive(row, now),
  )
  return createCheckoutEvents({ owner, provider }, found, { made, others })
}

async function storeCheckoutSubscription(
  context: BillingContext,
  locked: LockedOwner,
  { request: { provider, tax } }: StoredOperation,
  { subscriptionId }: ProviderCheckout,
): Promise<void> {
  if (subscriptionId === null) return
  const made = await refreshSubscriptionRow(context, locked, {
    provider,
    providerId: subscriptionId,
  })
  if (!made || typeof tax !== 'number') return
  await storeTaxTerms(context, locked, provider, { found: made, tax, lastChargeAt: null })
}

/**
 * Makes the card entered on a checkout page the customer's default, if the page was opened to
 * change the card (mode `setup`) or the customer has no default card yet.
 */
export async function storeEnteredCard(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  { mode, cardToken, customerId }: ProviderCheckout & { readonly customerId: string },
): Promise<void> {
  if (cardToken === null) return
  const customer = await (await locked.gateway(provider)).findCustomer(customerId)
  if (!customer) return
  const isWanted = mode === 'setup' || !customer.hasPaymentMethod
  const billed = isWanted ? await makeCardDefault(locked, provider, customer, cardToken) : customer
  // Set even if another process has made it the default already: that process may have crashed
  // before this step.
  await setBilledCard(context, locked, provider, billed.card, { isOther: billed !== customer })
}

async function makeCardDefault(
  locked: LockedOwner,
  provider: ProviderName,
  customer: ProviderCustomer,
  token: string,
): Promise<ProviderCustomer> {
  try {
    return await locked.change(provider, (gateway) => gateway.setCard(customer.id, token))
  } catch (error) {
    // The customer may have removed the card since. That must not block the following steps.
    if (!isDefiniteFailure(error)) throw error
    return customer
  }
}
