import type { BillingContext } from './context.ts'
import type { NewBillingEvent } from './events/billing-event.ts'
import { toSubscriptionEventData } from './events/subscription-events.ts'
import type { SubscriptionRepository } from './storage/subscriptions.ts'
import type { BilledOwner, SubscriptionRecord } from './storage/tables.ts'
import { stillBelongsToOwner } from './subscription-owner.ts'
import { formatOwnerKey } from './values/owner.ts'
import { willBeBilled } from './values/subscription-state.ts'

const DAY = 86_400_000
/** How long before the end of a trial `trial.ending` is sent. */
const TRIAL_NOTICE = 3 * DAY
/** Subscriptions that ended earlier are not reported: a listener may be added years later. */
const ENDED_WINDOW = 2 * DAY

/**
 * Records the events that only the passing of time causes, such as the end of a trial, based on our
 * rows. Idempotent.
 */
export async function recordTimedEvents(context: BillingContext): Promise<void> {
  const now = context.options.clock.now()
  for (const event of [
    ...(await findSubscriptionEndedEvents(context, now)),
    ...(await findTrialEndingEvents(context, now)),
    ...(await findGenericTrialEndingEvents(context, now)),
    ...(await findCardExpiringEvents(context, now)),
  ]) {
    await context.options.database.transaction((tx) => context.events.record(tx, event))
  }
}

async function findSubscriptionEndedEvents(
  context: BillingContext,
  now: Date,
): Promise<NewBillingEvent[]> {
  if (!context.events.isWanted('subscription.ended')) return []
  const since = new Date(now.getTime() - ENDED_WINDOW)
  const rows = await listBetween(context, 'ends_at', since, now)
  return rows.map(({ owner, provider, ...row }) => ({
    ...{ owner, provider },
    type: 'subscription.ended',
    subject: `${provider}:${row.providerId}`,
    data: { subscription: toSubscriptionEventData({ ...row, owner, provider }) },
  }))
}

/** Lists the subscriptions, without those whose owner has another customer by now. */
async function listBetween(
  context: BillingContext,
  ...between: Parameters<SubscriptionRepository['listBetween']>
): Promise<SubscriptionRecord[]> {
  const rows: SubscriptionRecord[] = []
  for (const row of await context.subscriptions.listBetween(...between)) {
    if (await stillBelongsToOwner(context, row)) rows.push(row)
  }
  return rows
}

async function findTrialEndingEvents(
  context: BillingContext,
  now: Date,
): Promise<NewBillingEvent[]> {
  if (!context.events.isWanted('trial.ending')) return []
  const until = new Date(now.getTime() + TRIAL_NOTICE)
  const rows = await listBetween(context, 'trial_ends_at', now, until)
  return rows.flatMap((row) => {
    const { owner, provider, trialEndsAt, endsAt } = row
    if (trialEndsAt === null || endsAt !== null) return []
    const moment = trialEndsAt.toISOString()
    return {
      ...{ owner, provider },
      type: 'trial.ending' as const,
      subject: `${provider}:${row.providerId}:${moment}`,
      data: { subscription: toSubscriptionEventData(row), endsAt: moment },
    }
  })
}

/**
 * Returns the events for generic trials that end soon, of owners who have no subscription. For
 * owners with a subscription, only the trial of that subscription is reported.
 */
async function findGenericTrialEndingEvents(
  context: BillingContext,
  now: Date,
): Promise<NewBillingEvent[]> {
  if (!context.events.isWanted('trial.ending')) return []
  const until = new Date(now.getTime() + TRIAL_NOTICE)
  const events: NewBillingEvent[] = []
  for (const type of context.owners.types) {
    for (const billed of await context.owners.listTrials(type, now, until)) {
      const { owner, trialEndsAt } = billed
      if (trialEndsAt === null || (await context.subscriptions.hasAny(owner))) continue
      const moment = trialEndsAt.toISOString()
      events.push({
        owner,
        provider: billed.provider ?? context.options.defaultProvider,
        type: 'trial.ending',
        subject: `${formatOwnerKey(owner)}:${moment}`,
        data: { subscription: null, endsAt: moment },
      })
    }
  }
  return events
}

async function isBilled(
  context: BillingContext,
  { owner, provider }: BilledOwner,
): Promise<boolean> {
  const all = await context.subscriptions.listByOwner(owner)
  return all.some((row) => row.provider === provider && willBeBilled(row))
}

/**
 * Returns the events for expiring cards of owners with a running subscription. Other owners may
 * have paid once, years ago.
 */
async function findCardExpiringEvents(
  context: BillingContext,
  now: Date,
): Promise<NewBillingEvent[]> {
  if (!context.events.isWanted('card.expiring')) return []
  const expires = now.toISOString().slice(0, 7)
  const events: NewBillingEvent[] = []
  for (const type of context.owners.types) {
    for (const billed of await context.owners.listByCardExpiry(type, expires)) {
      const { owner, provider, cardBrand: brand, cardLastFour: lastFour } = billed
      if (provider === null || !(await isBilled(context, billed))) continue
      events.push({
        ...{ owner, provider },
        type: 'card.expiring',
        subject: `${formatOwnerKey(owner)}:${lastFour}:${expires}`,
        data: { brand, lastFour, expires },
      })
    }
  }
  return events
}
