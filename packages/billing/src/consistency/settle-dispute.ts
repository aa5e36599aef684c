import type { BillingContext } from '../context.ts'
import { eventsOfDispute, isDecided } from '../events/of-dispute.ts'
import type { ProviderDispute } from '../gateways/contract/parts/money/disputes.ts'
import type { ProviderName } from '../provider-name.ts'
import type { DisputeRecord } from '../storage/disputes.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'
import { ended } from '../values/subscription-state.ts'
import { converge } from './converge.ts'
import type { LockedOwner } from './owner-lock.ts'
import { type Drift, type DriftReport, failureOf } from './sync/drift.ts'

/** A charge that was asked back, as the provider has it now, and what the application wants to come of it. */
export async function settleDispute(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  found: ProviderDispute,
): Promise<void> {
  const row = await subscriptionOf(context, provider, found)
  if (row && endsAccess(context, row, found)) {
    await locked.change(provider, (changing) => changing.cancelNow(row.providerId))
    await converge(context, locked, row)
  }
  // Last, because sync() takes a dispute for settled once its row says how it ended.
  await record(context, locked, { provider, found, row, isTold: true })
}

interface Recorded {
  readonly provider: ProviderName
  readonly found: ProviderDispute
  /** The subscription that was paid for. */
  readonly row: SubscriptionRecord | null
  readonly isTold: boolean
}

async function record(
  context: BillingContext,
  locked: LockedOwner,
  { provider, found, row, isTold }: Recorded,
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
    amount: found.amount.amount,
    currency: found.amount.currency,
    reason: found.reason,
    status: found.status,
    openedAt: found.openedAt,
    closedAt: isDecided(found) ? (before?.closedAt ?? options.clock.now()) : null,
  }
  const told = isTold ? eventsOfDispute({ owner: locked.owner, provider }, before, found) : []
  await locked.lock.write(async (tx) => {
    await disputes.save(now, tx)
    for (const event of told) await events.record(tx, event)
  })
}

/**
 * Makes up for events that never came. Says what was different. What was decided before we knew of it may be years old, and
 * paid for since: it is written down and reported, and nothing else.
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
    // Such as a key that may not read them: the rest of the sync does not depend on it.
    return { drift, failures: [failureOf(owner, error)] }
  }
  for (const found of listed) {
    const before = await context.disputes.find(provider, found.id)
    if (before?.status === found.status) continue
    if (!dryRun) {
      if (before || !isDecided(found)) await settleDispute(context, locked, provider, found)
      else {
        const row = await subscriptionOf(context, provider, found)
        await record(context, locked, { provider, found, row, isTold: false })
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
async function subscriptionOf(
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

/** Moves undecided disputes to the replacement of a subscription, so that a swap does not end a suspension. Can be repeated. */
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
  for (const found of listed.filter((each) => !isDecided(each))) {
    const before = await context.disputes.find(provider, found.id)
    if (before?.subscriptionId !== from.id) continue
    await record(context, locked, { provider, found, row: to, isTold: false })
  }
}

function endsAccess(
  { options }: BillingContext,
  row: SubscriptionRecord,
  { status }: ProviderDispute,
): boolean {
  const isWanted = options.disputes.access === 'end' && status === 'lost'
  return isWanted && !ended(row, options.clock.now())
}
