import type { Database } from '@tollgate/database'
import type { BillingContext } from '../context.ts'
import { isFinal } from '../errors.ts'
import type { NewBillingEvent } from '../events/billing-event.ts'
import { eventsOfCheckout, paymentStatusOf } from '../events/of-checkout.ts'
import type { ProviderCustomer } from '../gateways/contract/customer.ts'
import type { ProviderCheckout } from '../gateways/contract/parts/pages/checkout.ts'
import type { ProviderName } from '../provider-name.ts'
import type { StoredOperation } from '../storage/operations.ts'
import { active } from '../values/subscription-state.ts'
import { setBilledCard } from './cards/set-billed-card.ts'
import { converge } from './converge.ts'
import { keepTax } from './keep-tax.ts'
import { finish } from './operation.ts'
import type { LockedOwner } from './owner-lock.ts'

/**
 * Brings our rows to what came of a hosted page, and takes it off the record unless it still waits for the
 * customer. One that the provider does not have was never shown to anybody, so it can be forgotten.
 */
export async function settleCheckout(
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
    await keepSubscription(context, locked, operation, found)
    await keepCard(context, locked, operation, { ...found, customerId: billed.providerId })
  }
  const told =
    found?.status === 'complete' ? await whatToTell(context, locked, provider, found) : []
  await finish(context, locked, operation, async (tx) => {
    for (const event of told) await context.events.record(tx, event)
    if (found) await awaitPayment(context, locked, provider, found, tx)
  })
  return found
}

/** What is on its way stays on record, so that `sync()` makes up for an event that never comes. */
async function awaitPayment(
  { operations, options }: BillingContext,
  { owner }: LockedOwner,
  provider: ProviderName,
  found: ProviderCheckout,
  tx: Database,
): Promise<void> {
  const isAwaited = found.status === 'complete' && found.mode === 'payment'
  if (!isAwaited || paymentStatusOf(found) !== 'pending') return
  const request = { provider, page: found.id }
  await operations.begin({ owner, kind: 'checkout_payment', request }, options.clock.now(), tx)
}

/** Nobody can pay on two pages of ours for one thing; but there are other ways to begin a subscription. */
async function whatToTell(
  { subscriptions, options }: BillingContext,
  { owner }: LockedOwner,
  provider: ProviderName,
  found: ProviderCheckout,
): Promise<NewBillingEvent[]> {
  const made = await subscriptions.findByProvider(provider, found.subscriptionId ?? '')
  const now = options.clock.now()
  const others = (made ? await subscriptions.listByOwner(owner) : []).filter(
    (row) => row.name === made?.name && row.id !== made.id && active(row, now),
  )
  return eventsOfCheckout({ owner, provider }, found, { made, others })
}

async function keepSubscription(
  context: BillingContext,
  locked: LockedOwner,
  { request: { provider, tax } }: StoredOperation,
  { subscriptionId }: ProviderCheckout,
): Promise<void> {
  if (subscriptionId === null) return
  const made = await converge(context, locked, { provider, providerId: subscriptionId })
  if (!made || typeof tax !== 'number') return
  await keepTax(context, locked, provider, { found: made, tax, lastChargeAt: null })
}

/** A card that somebody came to change is the one that is billed; any other only where there was none. */
async function keepCard(
  context: BillingContext,
  locked: LockedOwner,
  { request: { provider } }: StoredOperation,
  { mode, cardToken, customerId }: ProviderCheckout & { readonly customerId: string },
): Promise<void> {
  if (cardToken === null) return
  const customer = await (await locked.gateway(provider)).findCustomer(customerId)
  if (!customer) return
  const isWanted = mode === 'setup' || !customer.hasPaymentMethod
  const billed = isWanted ? await useCard(locked, provider, customer, cardToken) : customer
  // Also when another process has made it the customer's, and was killed.
  await setBilledCard(context, locked, provider, billed.card, { isOther: billed !== customer })
}

async function useCard(
  locked: LockedOwner,
  provider: ProviderName,
  customer: ProviderCustomer,
  token: string,
): Promise<ProviderCustomer> {
  try {
    return await locked.change(provider, (gateway) => gateway.setCard(customer.id, token))
  } catch (error) {
    // The customer may have taken it away since. That must not stop whatever comes next.
    if (!isFinal(error)) throw error
    return customer
  }
}
