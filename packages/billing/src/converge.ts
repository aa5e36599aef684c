import type { BillingContext } from './context.ts'
import type { ProviderName } from './errors.ts'
import type { Gateway, ProviderSubscription } from './gateways/gateway.ts'
import type { Owner } from './owner.ts'
import { saveSubscription } from './storage/subscriptions.ts'
import type { SubscriptionRecord } from './storage/tables.ts'

const DEFAULT_NAME = 'default'

/**
 * The one way a subscription gets into our table: read the provider's object, then write the row.
 * Neither the order nor the content of events matters, only that one came.
 */
export async function converge(
  context: BillingContext,
  owner: Owner,
  { provider, providerId }: { readonly provider: ProviderName; readonly providerId: string },
): Promise<ProviderSubscription | null> {
  const gateway = await owner.gateway(provider)
  const found = await gateway.findSubscription(providerId)
  if (found) await store(context, owner, gateway, found)
  else await endMissing(context, owner, { provider, providerId })
  return found
}

/** Writes what was just read; for a caller that holds the lock since before it read. */
export async function store(
  context: BillingContext,
  { userId, lock }: Owner,
  gateway: Gateway,
  found: ProviderSubscription,
): Promise<void> {
  const before = await context.subscriptions.findByProvider(gateway.name, found.id)
  const name = before?.name ?? found.name ?? (await nameOfOperation(context, found))
  const record = toRecord({
    found,
    userId: before?.userId ?? userId,
    name: name ?? DEFAULT_NAME,
    provider: gateway.name,
    now: context.options.clock.now(),
  })
  if (before && isSame(before, record)) return
  await lock.write((tx) => saveSubscription(tx, record))
}

/** What the row of this provider object should say. */
export function toRecord(from: {
  readonly found: ProviderSubscription
  readonly userId: string | number
  readonly name: string
  readonly provider: ProviderName
  readonly now: Date
}): Omit<SubscriptionRecord, 'id'> {
  const { found, userId, name, provider, now } = from
  return {
    userId,
    name,
    provider,
    providerId: found.id,
    providerPlan: found.plan,
    providerStatus: found.status,
    quantity: found.quantity,
    trialEndsAt: found.trialEndsAt,
    endsAt: found.endsAt,
    createdAt: found.createdAt,
    updatedAt: now,
  }
}

export function isSame(
  a: Omit<SubscriptionRecord, 'id'>,
  b: Omit<SubscriptionRecord, 'id'>,
): boolean {
  return (
    a.providerPlan === b.providerPlan &&
    a.providerStatus === b.providerStatus &&
    a.quantity === b.quantity &&
    a.trialEndsAt?.getTime() === b.trialEndsAt?.getTime() &&
    a.endsAt?.getTime() === b.endsAt?.getTime()
  )
}

/** Braintree keeps no name; the operation that made the subscription does until its row is there. */
async function nameOfOperation(
  context: BillingContext,
  { operation }: ProviderSubscription,
): Promise<string | null> {
  return operation === null ? null : context.operations.findName(operation)
}

/** Gone at the provider, which happens only to test data: nothing can be billed, so it has ended. */
async function endMissing(
  context: BillingContext,
  { lock }: Owner,
  { provider, providerId }: { readonly provider: ProviderName; readonly providerId: string },
): Promise<void> {
  const before = await context.subscriptions.findByProvider(provider, providerId)
  const now = context.options.clock.now()
  if (!before || (before.endsAt !== null && before.endsAt <= now)) return
  await lock.write((tx) => saveSubscription(tx, { ...before, endsAt: now, updatedAt: now }))
}
