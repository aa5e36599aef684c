import { requireGatewayPart } from '../providers/gateway-parts.ts'
import type { ProviderSubscription } from '../providers/subscription.ts'
import type { BillingContext } from './context.ts'
import { isDefiniteFailure } from './errors/errors.ts'
import { createSubscriptionEvents } from './events/subscription-events.ts'
import type { LockedOwner } from './locked-owner.ts'
import type { HeldLock } from './storage/locks.ts'
import { saveSubscription } from './storage/subscriptions.ts'
import type {
  AdditionalItemRecord,
  NewSubscriptionRecord,
  SubscriptionRecord,
} from './storage/tables.ts'
import {
  findSubscriptionOwnership,
  type SubscriptionOwnership,
  stillBelongsToOwner,
} from './subscription-owner.ts'
import { formatOwnerKey } from './values/owner.ts'
import type { ProviderName } from './values/provider-name.ts'
import { DEFAULT_SUBSCRIPTION_NAME, hashSubscriptionName } from './values/subscription-name.ts'
import { hasSubscriptionEnded, type SubscriptionColumns } from './values/subscription-state.ts'

/**
 * Reads the provider's subscription and writes our row from it. This is the only way in which rows
 * of subscriptions are updated. A webhook only triggers this update, so neither the order nor the
 * content of webhooks matters. Returns the provider's subscription, or `null` if it no longer
 * exists.
 */
export async function refreshSubscriptionRow(
  context: BillingContext,
  locked: LockedOwner,
  { provider, providerId }: { readonly provider: ProviderName; readonly providerId: string },
): Promise<ProviderSubscription | null> {
  const read = await (await locked.gateway(provider)).findSubscription(providerId)
  const found = read && (await undoLapsedChange(locked, provider, read))
  if (found) await storeSubscription(context, locked, provider, found)
  // Gone at the provider, which happens only to test data: nothing can be billed, so it has ended.
  else await endSubscriptionRow(context, locked, { provider, providerId })
  return found
}

/**
 * Reverts a pending change whose payment was never made, so that the subscription is as it was
 * before.
 */
export async function undoLapsedChange(
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderSubscription,
): Promise<ProviderSubscription> {
  if (!found.hasLapsed) return found
  try {
    await locked.change(provider, (gateway) =>
      requireGatewayPart(gateway, 'confirmations').undoLapsedChange(found.id),
    )
  } catch (error) {
    // If the provider refuses, leave the change as it is: it must not block other operations.
    if (!isDefiniteFailure(error)) throw error
    return found
  }
  return (await (await locked.gateway(provider)).findSubscription(found.id)) ?? found
}

/**
 * Closes the payments that still await the customer if the subscription was ended outside of
 * billing, because they can no longer be made. The row is marked as ended only afterwards: if this
 * process is killed in between, the next process repeats this step.
 */
async function closeUnconfirmedPayments(
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderSubscription,
  before: SubscriptionRecord | null,
): Promise<void> {
  if (!hasJustEnded(found, before)) return
  try {
    await locked.change(provider, async ({ confirmations }) => confirmations?.closeUnpaid(found))
  } catch (error) {
    // If the provider refuses, leave the payments as they are: they must not block other
    // operations.
    if (!isDefiniteFailure(error)) throw error
  }
}

/**
 * Whether the subscription ended since our row was written. Subscriptions that we have no row of
 * and did not create are not ours.
 */
function hasJustEnded(
  { isOver, status, operation }: ProviderSubscription,
  recordBefore: SubscriptionRecord | null,
): boolean {
  return isOver && (recordBefore ? recordBefore.providerStatus !== status : operation !== null)
}

/**
 * Writes the row of a subscription that was just read from the provider. The caller must have taken
 * the owner's lock before reading it.
 */
export async function storeSubscription(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderSubscription,
): Promise<void> {
  const before = await context.subscriptions.findByProvider(provider, found.id)
  const name = before?.name ?? (await findSubscriptionName(context, found))
  const record = toSubscriptionRecord({
    found,
    whose: await findSubscriptionOwnership(context, locked, provider, found, before),
    name,
    provider,
    before,
    now: context.options.clock.now(),
  })
  if (before && isSameSubscriptionRecord(before, record) && isSameOwnership(before, record)) {
    // The next billing period is no change that anybody is told of.
    if (!isSamePeriod(before, record)) await locked.lock.write((tx) => saveSubscription(tx, record))
    return
  }
  await closeUnconfirmedPayments(locked, provider, found, before)
  await saveSubscriptionAndEvents(context, locked.lock, before, record)
}

/**
 * Returns the columns from which a subscription's state is derived, for a subscription that was
 * just read from the provider and may have no row yet.
 */
export function toStateColumns(
  { options }: BillingContext,
  provider: ProviderName,
  { status, trialEndsAt, endsAt }: ProviderSubscription,
): SubscriptionColumns {
  return { standing: options.providers.standing(provider, status), trialEndsAt, endsAt }
}

/** Builds the row for a provider's subscription. */
export function toSubscriptionRecord(from: {
  readonly found: ProviderSubscription
  readonly whose: SubscriptionOwnership
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
    providerPlan: found.price,
    providerStatus: found.status,
    quantity: found.quantity,
    trialEndsAt: found.trialEndsAt,
    endsAt: chooseEndDate(found, before, now),
    // If the provider does not say when the pause began, use the time at which we first saw it.
    pausedAt: found.pause ? (before?.pausedAt ?? now) : null,
    plannedPrice: found.planned?.items[0]?.price ?? null,
    plannedAt: found.planned?.at ?? null,
    periodStartsAt: found.periodStartsAt ?? null,
    periodEndsAt: found.periodEndsAt,
    // Disputes are stored separately; the subscription does not mention them.
    disputedAt: before?.disputedAt ?? null,
    createdAt: found.createdAt,
    updatedAt: now,
    items: listAdditionalItems(found),
  }
}

/**
 * Returns the end date for the row. If we ended the subscription earlier than the provider reports,
 * our date is kept, because the ended subscription can no longer be updated at the provider. Once
 * the row has the provider's final status, our date is kept even after the provider's end date has
 * passed.
 */
function chooseEndDate(
  subscriptionAtProvider: ProviderSubscription,
  before: SubscriptionRecord | null,
  now: Date,
): Date | null {
  if (!subscriptionAtProvider.isOver || !before?.endsAt || !hasSubscriptionEnded(before, now))
    return subscriptionAtProvider.endsAt
  if (!subscriptionAtProvider.endsAt || subscriptionAtProvider.endsAt <= before.endsAt)
    return subscriptionAtProvider.endsAt
  const isSettled =
    subscriptionAtProvider.endsAt > now || before.providerStatus === subscriptionAtProvider.status
  return isSettled ? before.endsAt : subscriptionAtProvider.endsAt
}

function listAdditionalItems({ items = [] }: ProviderSubscription): AdditionalItemRecord[] {
  return items
    .filter(({ isMain }) => !isMain)
    .map(({ id, price, product, quantity }) => ({ providerId: id, price, product, quantity }))
}

export function isSameSubscriptionRecord(
  a: NewSubscriptionRecord,
  b: NewSubscriptionRecord,
): boolean {
  return (
    a.providerPlan === b.providerPlan &&
    a.providerStatus === b.providerStatus &&
    a.quantity === b.quantity &&
    a.trialEndsAt?.getTime() === b.trialEndsAt?.getTime() &&
    a.endsAt?.getTime() === b.endsAt?.getTime() &&
    (a.pausedAt === null) === (b.pausedAt === null) &&
    a.plannedPrice === b.plannedPrice &&
    a.plannedAt?.getTime() === b.plannedAt?.getTime() &&
    sameItems(a.items, b.items)
  )
}

/** Whether both rows have the same billing period, which changes without any other change. */
export function isSamePeriod(a: NewSubscriptionRecord, b: NewSubscriptionRecord): boolean {
  return (
    a.periodStartsAt?.getTime() === b.periodStartsAt?.getTime() &&
    a.periodEndsAt?.getTime() === b.periodEndsAt?.getTime()
  )
}

export function isSameOwnership(a: SubscriptionOwnership, b: SubscriptionOwnership): boolean {
  return (
    a.providerCustomer === b.providerCustomer && formatOwnerKey(a.owner) === formatOwnerKey(b.owner)
  )
}

/** Compares items regardless of their order, which providers do not guarantee. */
function sameItems(
  a: readonly AdditionalItemRecord[],
  b: readonly AdditionalItemRecord[],
): boolean {
  return a.length === b.length && a.every((item) => b.some((other) => isSameItem(item, other)))
}

function isSameItem(a: AdditionalItemRecord, b: AdditionalItemRecord): boolean {
  return (
    a.providerId === b.providerId &&
    a.price === b.price &&
    a.product === b.product &&
    a.quantity === b.quantity
  )
}

/**
 * Finds the name of a subscription. If the provider had no room to store the name, it is read from
 * the unfinished operation that created the subscription. Without that operation, it is the name in
 * our table that has the stored digest.
 */
async function findSubscriptionName(
  context: BillingContext,
  { name, nameDigest, operation }: ProviderSubscription,
): Promise<string> {
  if (name !== null) return name
  const begun = operation === null ? null : await context.operations.findName(operation)
  if (begun !== null || nameDigest === null) return begun ?? DEFAULT_SUBSCRIPTION_NAME
  const known = await context.subscriptions.listNames()
  return (
    known.find((each) => hashSubscriptionName(each) === nameDigest) ?? DEFAULT_SUBSCRIPTION_NAME
  )
}

/**
 * Ends access to a subscription now, by setting `ends_at` in its row, unless access has ended
 * already.
 */
export async function endSubscriptionRow(
  context: BillingContext,
  { lock }: LockedOwner,
  { provider, providerId }: { readonly provider: ProviderName; readonly providerId: string },
): Promise<void> {
  const before = await context.subscriptions.findByProvider(provider, providerId)
  const now = context.options.clock.now()
  if (!before || (before.endsAt !== null && before.endsAt <= now)) return
  await saveSubscriptionAndEvents(context, lock, before, { ...before, endsAt: now, updatedAt: now })
}

/**
 * Writes the row and its events in one transaction. Events are recorded only if the subscription
 * still belongs to its owner.
 */
async function saveSubscriptionAndEvents(
  context: BillingContext,
  lock: HeldLock,
  before: SubscriptionRecord | null,
  record: NewSubscriptionRecord,
): Promise<void> {
  const hasOtherItems = !sameItems(before?.items ?? [], record.items)
  const isTold = await stillBelongsToOwner(context, record)
  const told = isTold ? createSubscriptionEvents(before, record, context.options.clock.now()) : []
  await lock.write(async (tx) => {
    await saveSubscription(tx, record, { hasOtherItems })
    for (const event of told) await context.events.record(tx, event)
  })
}
