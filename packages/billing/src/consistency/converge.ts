import type { BillingContext } from '../context.ts'
import { isFinal } from '../errors.ts'
import { eventsOfSubscription } from '../events/of-subscription.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { ProviderName } from '../provider-name.ts'
import type { HeldLock } from '../storage/locks.ts'
import { saveSubscription } from '../storage/subscriptions.ts'
import type { NewSubscriptionRecord, StoredItem, SubscriptionRecord } from '../storage/tables.ts'
import { ownerKey } from '../values/owner.ts'
import { DEFAULT_NAME, digestOfName } from '../values/subscription-name.ts'
import { ended, type SubscriptionColumns } from '../values/subscription-state.ts'
import type { LockedOwner } from './owner-lock.ts'
import { concernsOwner, findOwnership, type Ownership } from './subscription-owner.ts'

/**
 * The one way a subscription gets into our table: read the provider's object, then write the row.
 * Neither the order nor the content of events matters, only that one came.
 */
export async function converge(
  context: BillingContext,
  locked: LockedOwner,
  { provider, providerId }: { readonly provider: ProviderName; readonly providerId: string },
): Promise<ProviderSubscription | null> {
  const read = await (await locked.gateway(provider)).findSubscription(providerId)
  const found = read && (await putBack(locked, provider, read))
  if (found) await store(context, locked, provider, found)
  // Gone at the provider, which happens only to test data: nothing can be billed, so it has ended.
  else await endRow(context, locked, { provider, providerId })
  return found
}

/** A change that was held, and that nobody has paid, leaves nothing behind: all is as before it. */
export async function putBack(
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderSubscription,
): Promise<ProviderSubscription> {
  if (!found.hasLapsed) return found
  try {
    await locked.change(provider, (gateway) =>
      requirePart(gateway, 'confirmations').putBack(found.id),
    )
  } catch (error) {
    // What the provider refuses stays as it is, and stands in nobody's way.
    if (!isFinal(error)) throw error
    return found
  }
  return (await (await locked.gateway(provider)).findSubscription(found.id)) ?? found
}

/**
 * Of one that was ended elsewhere: what waited for the customer can no longer be paid. The row says that it is over only once this
 * is done, so whoever comes after a process that was killed does it again.
 */
async function closeUnpaid(
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderSubscription,
  before: SubscriptionRecord | null,
): Promise<void> {
  if (!hasJustEnded(found, before)) return
  try {
    await locked.change(provider, async ({ confirmations }) => confirmations?.closeUnpaid(found))
  } catch (error) {
    // What the provider refuses stays as it is, and stands in nobody's way.
    if (!isFinal(error)) throw error
  }
}

/** One that we have never seen, and did not make, is somebody else's. */
function hasJustEnded(
  { isOver, status, operation }: ProviderSubscription,
  before: SubscriptionRecord | null,
): boolean {
  return isOver && (before ? before.providerStatus !== status : operation !== null)
}

/** Writes what was just read; for a caller that holds the lock since before it read. */
export async function store(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderSubscription,
): Promise<void> {
  const before = await context.subscriptions.findByProvider(provider, found.id)
  const name = before?.name ?? (await nameOf(context, found))
  const record = toRecord({
    found,
    whose: await findOwnership(context, locked, provider, found, before),
    name,
    provider,
    before,
    now: context.options.clock.now(),
  })
  if (before && isSame(before, record) && isSameOwnership(before, record)) return
  await closeUnpaid(locked, provider, found, before)
  await save(context, locked.lock, before, record)
}

/** What its condition is derived from, before there is a row. */
export function columnsOf(
  { options }: BillingContext,
  provider: ProviderName,
  { status, trialEndsAt, endsAt }: ProviderSubscription,
): SubscriptionColumns {
  return { standing: options.providers.standing(provider, status), trialEndsAt, endsAt }
}

/** What the row of this provider object should say. */
export function toRecord(from: {
  readonly found: ProviderSubscription
  readonly whose: Ownership
  readonly name: string
  readonly provider: ProviderName
  readonly before: SubscriptionRecord | null
  readonly now: Date
}): NewSubscriptionRecord {
  const { found, whose, name, provider, before, now } = from
  return {
    owner: whose.owner,
    providerCustomer: whose.providerCustomer,
    name,
    provider,
    providerId: found.id,
    providerPlan: found.plan,
    providerStatus: found.status,
    quantity: found.quantity,
    trialEndsAt: found.trialEndsAt,
    endsAt: endOf(found, before, now),
    // Since when the provider does not say: since we have known.
    pausedAt: found.pause ? (before?.pausedAt ?? now) : null,
    plannedPlan: found.planned?.items[0]?.price ?? null,
    plannedAt: found.planned?.at ?? null,
    // Known from disputes, not from the subscription.
    disputedAt: before?.disputedAt ?? null,
    createdAt: found.createdAt,
    updatedAt: now,
    items: otherItems(found),
  }
}

/**
 * A subscription that we ended earlier than the provider says keeps its end: the provider can no longer be told. Once
 * the row has the final status, that holds after the provider's date has passed, too.
 */
function endOf(
  found: ProviderSubscription,
  before: SubscriptionRecord | null,
  now: Date,
): Date | null {
  if (!found.isOver || !before?.endsAt || !ended(before, now)) return found.endsAt
  if (!found.endsAt || found.endsAt <= before.endsAt) return found.endsAt
  const isSettled = found.endsAt > now || before.providerStatus === found.status
  return isSettled ? before.endsAt : found.endsAt
}

function otherItems({ items = [] }: ProviderSubscription): StoredItem[] {
  return items
    .filter(({ isMain }) => !isMain)
    .map(({ id, price, product, quantity }) => ({ providerId: id, price, product, quantity }))
}

export function isSame(a: NewSubscriptionRecord, b: NewSubscriptionRecord): boolean {
  return (
    a.providerPlan === b.providerPlan &&
    a.providerStatus === b.providerStatus &&
    a.quantity === b.quantity &&
    a.trialEndsAt?.getTime() === b.trialEndsAt?.getTime() &&
    a.endsAt?.getTime() === b.endsAt?.getTime() &&
    (a.pausedAt === null) === (b.pausedAt === null) &&
    a.plannedPlan === b.plannedPlan &&
    a.plannedAt?.getTime() === b.plannedAt?.getTime() &&
    sameItems(a.items, b.items)
  )
}

export function isSameOwnership(a: Ownership, b: Ownership): boolean {
  return a.providerCustomer === b.providerCustomer && ownerKey(a.owner) === ownerKey(b.owner)
}

/** In whatever order: a provider may list them in another one. */
function sameItems(a: readonly StoredItem[], b: readonly StoredItem[]): boolean {
  return a.length === b.length && a.every((item) => b.some((other) => isSameItem(item, other)))
}

function isSameItem(a: StoredItem, b: StoredItem): boolean {
  return (
    a.providerId === b.providerId &&
    a.price === b.price &&
    a.product === b.product &&
    a.quantity === b.quantity
  )
}

/**
 * Its name as the provider has it. Of one that it had no room for, the operation that made the
 * subscription knows it until its row is there; after that, it is one of those the application uses.
 */
async function nameOf(
  context: BillingContext,
  { name, nameDigest, operation }: ProviderSubscription,
): Promise<string> {
  if (name !== null) return name
  const begun = operation === null ? null : await context.operations.findName(operation)
  if (begun !== null || nameDigest === null) return begun ?? DEFAULT_NAME
  const known = await context.subscriptions.listNames()
  return known.find((each) => digestOfName(each) === nameDigest) ?? DEFAULT_NAME
}

/** Ends access now, if it has not ended. */
export async function endRow(
  context: BillingContext,
  { lock }: LockedOwner,
  { provider, providerId }: { readonly provider: ProviderName; readonly providerId: string },
): Promise<void> {
  const before = await context.subscriptions.findByProvider(provider, providerId)
  const now = context.options.clock.now()
  if (!before || (before.endsAt !== null && before.endsAt <= now)) return
  await save(context, lock, before, { ...before, endsAt: now, updatedAt: now })
}

/** Writes the row and its events in one transaction. Events are written only for the owner who has the subscription. */
async function save(
  context: BillingContext,
  lock: HeldLock,
  before: SubscriptionRecord | null,
  record: NewSubscriptionRecord,
): Promise<void> {
  const hasOtherItems = !sameItems(before?.items ?? [], record.items)
  const isTold = await concernsOwner(context, record)
  const told = isTold ? eventsOfSubscription(before, record, context.options.clock.now()) : []
  await lock.write(async (tx) => {
    await saveSubscription(tx, record, { hasOtherItems })
    for (const event of told) await context.events.record(tx, event)
  })
}
