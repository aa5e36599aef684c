import { randomBytes } from 'node:crypto'
import { type LockedOwner, withOwnerLock } from '../../consistency/owner-lock.ts'
import type { BillingContext } from '../../context.ts'
import { isBillingError } from '../../error-codes.ts'
import { usageUnpaid } from '../../events/of-usage.ts'
import { isChargedByUs } from '../../gateways/contract/parts/money/usage.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import { chargedUsageRepository, type UsageBatch } from '../../storage/queues/charged-usage.ts'
import type { SubscriptionRecord } from '../../storage/tables.ts'
import { type Money, money } from '../../values/money.ts'
import { chargedWith, periodAt } from '../../values/usage-periods.ts'
import { type Charging, chargeBatch, priceBatch } from './charge-batch.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const NEVER = 10_000 * DAY
const MOST_ATTEMPTS = 6

/** Charges what is due of a subscription's usage, and says until when nothing more will be. */
export function chargeUsage(context: BillingContext, record: SubscriptionRecord): Promise<Date> {
  return withOwnerLock(context, record.owner, async (locked) => {
    const charging = await openCharging(context, record)
    if (!charging) throw new Error('The provider has no such subscription any more')
    await beginBatches(context, locked, charging)
    for (const batch of await charging.usage.listBatches(record.id)) {
      if (!isPutOff(context, batch)) await tryBatch(context, locked, charging, batch)
    }
    const until = nextLook(context, charging)
    await charging.usage.postpone(record.id, until)
    return until
  })
}

/** Charges now what is owed, by whoever holds the owner's lock. Throws PaymentFailed when it is declined. */
export async function payUsage(
  context: BillingContext,
  locked: LockedOwner,
  record: SubscriptionRecord,
): Promise<void> {
  const charging = await openCharging(context, record)
  for (const batch of (await charging?.usage.listBatches(record.id)) ?? []) {
    if (charging) await chargeBatch(context, locked, charging, batch)
  }
}

/** What usage costs that was to be paid and is not; null where the provider counts it. */
export async function owedForUsage(
  context: BillingContext,
  record: SubscriptionRecord,
): Promise<Money | null> {
  const charging = await openCharging(context, record)
  if (!charging) return null
  const batches = await charging.usage.listBatches(record.id)
  let cents = 0
  for (const batch of batches) {
    cents += (await priceBatch(context, charging, batch)).amount.amount
  }
  return money(cents, charging.part.currency)
}

/** Null where the provider counts usage, or has no such subscription any more. */
async function openCharging(
  context: BillingContext,
  record: SubscriptionRecord,
): Promise<Charging | null> {
  const { database, owners } = context.options
  const gateway = await context.gateway(record.provider)
  const part = requirePart(gateway, 'usage')
  if (!isChargedByUs(part)) return null
  const billed = await context.owners.find(record.owner)
  const found = await gateway.findSubscription(record.providerId)
  if (!billed || !found) return null
  const usage = chargedUsageRepository(database, record.provider, owners)
  return { billed, record, found, part, usage }
}

/** A batch for each period that is over: what comes in later is in another one. */
async function beginBatches(
  context: BillingContext,
  locked: LockedOwner,
  { record, found, part, usage }: Charging,
): Promise<void> {
  const now = context.options.clock.now()
  const starts = part.periodsOf(found)
  for (;;) {
    const first = await usage.firstWaiting(record.id)
    if (first === null) return
    const isOver = found.isOver || periodAt(starts, first).to !== null
    if (!isOver) return
    const range = chargedWith(starts, found.trialEndsAt, first)
    const isFree = found.trialEndsAt !== null && first < found.trialEndsAt
    const batch = randomBytes(12).toString('hex')
    await locked.lock.write(async (tx) => {
      await usage.setBatch(record.id, batch, range, now, tx)
      // Nothing is owed for a trial.
      if (isFree) await usage.finishBatch(record.id, batch, now, tx)
    })
  }
}

/** Whoever is at a batch has it for some minutes; a card that was declined waits for days. */
function isPutOff({ options }: BillingContext, { dueAt }: UsageBatch): boolean {
  return dueAt.getTime() > options.clock.now().getTime() + HOUR
}

/** A card that is declined is charged again with the next bill, or when somebody pays. */
async function tryBatch(
  context: BillingContext,
  locked: LockedOwner,
  charging: Charging,
  batch: UsageBatch,
): Promise<void> {
  const { record, found, usage } = charging
  const { owner, provider } = record
  const { events, options } = context
  try {
    await chargeBatch(context, locked, charging, batch)
  } catch (error) {
    if (!isBillingError(error, 'payment_failed') && !isBillingError(error, 'no_payment_method')) {
      throw error
    }
    const now = options.clock.now()
    const attempts = batch.attempts + 1
    const dueAt = nextAttempt(found, attempts, now)
    const { amount } = await priceBatch(context, charging, batch)
    const unpaid = { id: batch.id, amount, attempt: attempts, nextAttemptAt: dueAt, at: now }
    await locked.lock.write(async (tx) => {
      await usage.putOffBatch(record.id, batch.id, { error: error.message, attempts, dueAt }, tx)
      await events.record(tx, usageUnpaid({ owner, provider }, unpaid))
    })
  }
}

/** With the next bill; where none comes any more some weeks long, and then only by `payNow()`. */
function nextAttempt(
  { isOver, periodEndsAt }: ProviderSubscription,
  attempts: number,
  now: Date,
): Date {
  if (!isOver && periodEndsAt && periodEndsAt.getTime() > now.getTime() + HOUR) return periodEndsAt
  return new Date(now.getTime() + (attempts < MOST_ATTEMPTS ? WEEK : NEVER))
}

/** An hour after the period's end, when the next one was billed; and once a day, because it may end earlier. */
function nextLook({ options }: BillingContext, { found }: Charging): Date {
  const now = options.clock.now().getTime()
  const end = found.periodEndsAt?.getTime() ?? 0
  if (end > now) return new Date(Math.min(end + HOUR, now + DAY))
  return new Date(now + HOUR)
}
