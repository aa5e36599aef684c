import type { BillingContext } from '../../core/context.ts'
import { refreshSubscriptionRow } from '../../core/converge.ts'
import type { DisputeEventData, NewBillingEvent } from '../../core/events/billing-event.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import type { DisputeRecord } from '../../core/storage/disputes.ts'
import type { SubscriptionRecord } from '../../core/storage/tables.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { hasSubscriptionEnded } from '../../core/values/subscription-state.ts'
import type { EventOrigin } from '../invoices/events.ts'
import { type Drift, type DriftReport, toSyncFailure } from '../sync/drift.ts'
import type { DefaultHandler } from '../webhooks/default-handler.ts'
import type { ProviderDispute } from './contract.ts'

/**
 * Stores a dispute in its current state, and cancels its subscription if the dispute is lost and
 * the option `disputes` is `{ access: 'end' }`.
 */
export async function storeDispute(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  disputeAtProvider: ProviderDispute,
): Promise<void> {
  const row = await findDisputedSubscription(context, provider, disputeAtProvider)
  if (row && endsAccess(context, row, disputeAtProvider)) {
    await locked.change(provider, (changing) => changing.cancelNow(row.providerId))
    await refreshSubscriptionRow(context, locked, row)
  }
  // Stored last, because sync() regards a dispute as settled once its row has the final status.
  await recordDispute(context, locked, {
    provider,
    found: disputeAtProvider,
    row,
    emitsEvents: true,
  })
}

interface DisputeToRecord {
  readonly provider: ProviderName
  readonly found: ProviderDispute
  /** The row of the subscription that the disputed charge paid for. `null` if there is none. */
  readonly row: SubscriptionRecord | null
  readonly emitsEvents: boolean
}

async function recordDispute(
  context: BillingContext,
  locked: LockedOwner,
  { provider, found, row, emitsEvents }: DisputeToRecord,
): Promise<void> {
  const { disputes, events, options } = context
  const before = await disputes.find(provider, found.id)
  const now: DisputeRecord = {
    provider,
    providerId: found.id,
    ownerType: locked.owner.type,
    ownerId: String(locked.owner.id),
    subscriptionId: row?.id ?? null,
    charge: found.charge,
    invoice: found.invoiceId ?? null,
    amount: found.amount.amount,
    currency: found.amount.currency,
    reason: found.reason,
    status: found.status,
    openedAt: found.openedAt,
    closedAt: isDisputeDecided(found) ? (before?.closedAt ?? options.clock.now()) : null,
  }
  const newEvents = emitsEvents
    ? createDisputeEvents({ owner: locked.owner, provider }, before, found)
    : []
  await locked.lock.write(async (tx) => {
    await disputes.save(now, tx)
    for (const event of newEvents) await events.record(tx, event)
  })
}

/**
 * Compares a customer's disputes at the provider with our database, to repair lost webhooks, and
 * returns the differences. A dispute that was decided before we learned of it is only stored and
 * reported: it may be years old, and the subscription may have been paid since.
 */
export async function syncDisputes(
  context: BillingContext,
  locked: LockedOwner,
  { provider, customerId }: { readonly provider: ProviderName; readonly customerId: string },
  { dryRun }: { readonly dryRun: boolean },
): Promise<Pick<DriftReport, 'drift' | 'failures'>> {
  const { owner } = locked
  const { disputes } = await locked.gateway(provider)
  const drift: Drift[] = []
  let listed: readonly ProviderDispute[]
  try {
    listed = (await disputes?.list(customerId)) ?? []
  } catch (error) {
    // For example an API key that may not read disputes. The rest of the sync does not depend on
    // them.
    return { drift, failures: [toSyncFailure(owner, error)] }
  }
  for (const found of listed) {
    const before = await context.disputes.find(provider, found.id)
    if (before?.status === found.status) continue
    if (!dryRun) {
      if (before || !isDisputeDecided(found)) await storeDispute(context, locked, provider, found)
      else {
        const row = await findDisputedSubscription(context, provider, found)
        await recordDispute(context, locked, { provider, found, row, emitsEvents: false })
      }
    }
    drift.push({
      owner,
      provider,
      providerId: found.id,
      what: 'dispute',
      was: before && { status: before.status },
      is: { status: found.status },
    })
  }
  return { drift, failures: [] }
}

/** Finds the subscription that the disputed charge paid for, or its replacement after a swap. */
async function findDisputedSubscription(
  { subscriptions, disputes }: BillingContext,
  provider: ProviderName,
  { id, subscriptionId }: ProviderDispute,
): Promise<SubscriptionRecord | null> {
  const paid = await subscriptions.findByProvider(provider, subscriptionId ?? '')
  const before = paid && (await disputes.find(provider, id))
  if (!before || before.subscriptionId === paid.id) return paid
  const newest = await subscriptions.findByName(paid.owner, paid.name)
  return newest?.id === before.subscriptionId ? newest : paid
}

/**
 * Moves the undecided disputes of a subscription to the subscription that replaces it, so that
 * access stays suspended after a swap. Repeated calls have no further effect.
 */
export async function moveDisputes(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  { from, to }: { readonly from: SubscriptionRecord; readonly to: SubscriptionRecord },
): Promise<void> {
  if (from.disputedAt === null || from.id === to.id) return
  const owner = await context.owners.find(from.owner)
  const { disputes } = await locked.gateway(provider)
  const listed = (await disputes?.list(owner?.providerId ?? '')) ?? []
  for (const found of listed.filter((each) => !isDisputeDecided(each))) {
    const before = await context.disputes.find(provider, found.id)
    if (before?.subscriptionId !== from.id) continue
    await recordDispute(context, locked, { provider, found, row: to, emitsEvents: false })
  }
}

function endsAccess(
  { options }: BillingContext,
  row: SubscriptionRecord,
  { status }: ProviderDispute,
): boolean {
  const isWanted = options.disputes.access === 'end' && status === 'lost'
  return isWanted && !hasSubscriptionEnded(row, options.clock.now())
}

/** Whether the bank has decided the dispute (`won` or `lost`). */
export function isDisputeDecided({ status }: Pick<ProviderDispute, 'status'>): boolean {
  return status === 'won' || status === 'lost'
}

/**
 * Returns the events for a dispute that was stored: that it was opened, that an inquiry became a
 * dispute, or that it was decided.
 */
export function createDisputeEvents(
  { owner, provider }: EventOrigin,
  disputeBefore: Pick<ProviderDispute, 'status'> | null,
  found: ProviderDispute,
): NewBillingEvent[] {
  const about = `${provider}:${found.id}`
  const base = { owner, provider, data: { dispute: toDisputeEventData(found) } }
  const isInquiry = found.status === 'inquiry'
  const isSerious = !isInquiry && (disputeBefore === null || disputeBefore.status === 'inquiry')
  const isOver = isDisputeDecided(found) && disputeBefore?.status !== found.status
  const opened = isInquiry && disputeBefore === null ? `${about}:inquiry` : isSerious ? about : null
  return [
    ...(opened === null ? [] : [{ ...base, type: 'dispute.opened' as const, subject: opened }]),
    ...(isOver
      ? [{ ...base, type: 'dispute.closed' as const, subject: `${about}:${found.status}` }]
      : []),
  ]
}

function toDisputeEventData(found: ProviderDispute): DisputeEventData {
  const { id, charge, subscriptionId: subscription, amount, reason, status, openedAt } = found
  return { id, charge, subscription, amount, reason, status, openedAt: openedAt.toISOString() }
}

/** Handles provider webhooks about disputes. */
export const handleDisputeEvent: DefaultHandler = async (context, { locked, gateway, subject }) => {
  const { disputeId } = subject
  const found = disputeId ? await gateway.disputes?.find(disputeId) : null
  if (found) await storeDispute(context, locked, gateway.name, found)
}
