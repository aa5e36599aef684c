import { randomBytes } from 'node:crypto'
import type { BillingContext } from '../../../core/context.ts'
import { isBillingError } from '../../../core/errors/error-codes.ts'
import type { LockedOwner } from '../../../core/locked-owner.ts'
import { withOwnerLock } from '../../../core/owner-lock.ts'
import type { SubscriptionRecord } from '../../../core/storage/tables.ts'
import { type Money, money } from '../../../core/values/money.ts'
import { formatOwnerKey } from '../../../core/values/owner.ts'
import type { ProviderSubscription } from '../../../providers/subscription.ts'
import { buildUsageUnpaidEvent } from '../events.ts'
import type { UsageLedger } from './bill.ts'
import { chargeUsageBatch, priceUsageBatch, readUsageLedger } from './charge-batch.ts'
import { readUsageChargeContext, type UsageChargeContext } from './charge-context.ts'
import type { UsageBatch, UsageSums } from './charged-usage-rows.ts'
import { computePricingRange, findPeriodAt } from './periods.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const NEVER = 10_000 * DAY
const MAX_ATTEMPTS = 6

/** Charges all usage of a subscription that is due. Returns the time of the next check. */
export function chargeUsage(context: BillingContext, record: SubscriptionRecord): Promise<Date> {
  return withOwnerLock(context, record.owner, async (locked) => {
    const row = await context.subscriptions.find(record.id)
    // The subscription was transferred while this waited for the lock. It is due again soon for the
    // new owner.
    if (row && formatOwnerKey(row.owner) !== formatOwnerKey(record.owner))
      return context.options.clock.now()
    const charging = await readUsageChargeContext(context, record)
    if (typeof charging === 'string') {
      await context.usage.refuse(record.id, null, charging)
      return new Date(context.options.clock.now().getTime() + DAY)
    }
    await beginBatches(context, locked, charging)
    for (const batch of await charging.usage.listBatches(record.id)) {
      if (!isPostponed(context, batch)) await tryBatch(context, locked, charging, batch)
    }
    const until = computeNextCheck(context, charging)
    await charging.usage.postpone(record.id, until)
    return until
  })
}

/**
 * Charges the unpaid usage of a subscription now, even if a retry is scheduled for later. Callers
 * must hold the owner's lock. Throws PaymentFailed if the card is declined.
 */
export async function payOwedUsage(
  context: BillingContext,
  locked: LockedOwner,
  record: SubscriptionRecord,
): Promise<void> {
  const charging = await readUsageChargeContext(context, record)
  if (typeof charging === 'string') return
  for (const batch of await charging.usage.listBatches(record.id)) {
    await chargeUsageBatch(context, locked, charging, batch)
  }
}

/**
 * Returns the amount owed for usage that was due and is unpaid. `null` if the subscription's usage
 * cannot be charged.
 */
export async function computeOwedUsage(
  context: BillingContext,
  record: SubscriptionRecord,
): Promise<Money | null> {
  const charging = await readUsageChargeContext(context, record)
  if (typeof charging === 'string') return null
  const { usage, part } = charging
  let cents = 0
  let before: (UsageLedger & { readonly from: number }) | null = null
  // Batches of the same period build on each other: each costs what it adds, as if the earlier ones
  // were paid.
  for (const batch of await usage.listBatches(record.id)) {
    const from = batch.period.from.getTime()
    const ledger: UsageLedger =
      before?.from === from ? before : await readUsageLedger(charging, batch)
    const sums = await usage.sumOfBatch(record.id, batch.id)
    const { amount, bill } = await priceUsageBatch(context, charging, ledger, sums)
    cents += amount.amount
    before = {
      from,
      used: addUsageSums(ledger.used, sums),
      bills: [...ledger.bills, ...bill.meters],
    }
  }
  return money(cents, part.currency)
}

function addUsageSums(sums: UsageSums, others: UsageSums): UsageSums {
  const all = new Map(sums)
  for (const [meter, value] of others) all.set(meter, (all.get(meter) ?? 0n) + value)
  return all
}

/**
 * Creates a batch of usage for each period that is over. Usage that is reported later is in another
 * batch.
 */
async function beginBatches(
  context: BillingContext,
  locked: LockedOwner,
  { record, found, part, usage }: UsageChargeContext,
): Promise<void> {
  const now = context.options.clock.now()
  const starts = part.periodsOf(found)
  for (;;) {
    const first = await usage.firstWaiting(record.id)
    if (first === null) return
    const isOver = found.isOver || findPeriodAt(starts, first).to !== null
    if (!isOver) return
    const range = computePricingRange(starts, found.trialEndsAt, first)
    const isFree = found.trialEndsAt !== null && first < found.trialEndsAt
    const batch = randomBytes(12).toString('hex')
    await locked.lock.write(async (tx) => {
      await usage.setBatch(record.id, batch, range, now, tx)
      // Usage during a trial is free.
      const bill = { tax: 0, meters: [] }
      if (isFree) await usage.finishBatch(record.id, batch, { bill, at: now }, tx)
    })
  }
}

/**
 * Whether a batch of usage was postponed for days because the card was declined. A batch that a
 * process is charging now is due again within minutes.
 */
function isPostponed({ options }: BillingContext, { dueAt }: UsageBatch): boolean {
  return dueAt.getTime() > options.clock.now().getTime() + HOUR
}

/**
 * Charges for a batch of usage. If the card is declined, it is charged again with the next invoice,
 * or when the customer pays.
 */
async function tryBatch(
  context: BillingContext,
  locked: LockedOwner,
  charging: UsageChargeContext,
  batch: UsageBatch,
): Promise<void> {
  const { record, found, usage } = charging
  const { owner, provider } = record
  const { events, options } = context
  try {
    await chargeUsageBatch(context, locked, charging, batch)
  } catch (error) {
    if (!isBillingError(error, 'payment_failed') && !isBillingError(error, 'no_payment_method')) {
      throw error
    }
    const now = options.clock.now()
    const attempt = batch.declines + 1
    const nextAttemptAt = computeNextAttempt(found, attempt, now)
    const sums = await usage.sumOfBatch(record.id, batch.id)
    const ledger = await readUsageLedger(charging, batch)
    const { amount } = await priceUsageBatch(context, charging, ledger, sums)
    const unpaid = { id: batch.id, amount, attempt, nextAttemptAt, at: now }
    const dueAt = nextAttemptAt ?? new Date(now.getTime() + NEVER)
    await locked.lock.write(async (tx) => {
      await usage.postponeBatch(record.id, batch.id, { error: error.message, dueAt }, tx)
      await events.record(tx, buildUsageUnpaidEvent({ owner, provider }, unpaid))
    })
  }
}

/**
 * Returns the time of the next attempt: together with the next invoice or, if there is none, weekly
 * for some weeks. `null` after that: then only `payNow()` or another card leads to an attempt.
 */
function computeNextAttempt(
  { isOver, periodEndsAt }: ProviderSubscription,
  attempts: number,
  now: Date,
): Date | null {
  if (!isOver && periodEndsAt && periodEndsAt.getTime() > now.getTime() + HOUR) return periodEndsAt
  return attempts < MAX_ATTEMPTS ? new Date(now.getTime() + WEEK) : null
}

/**
 * Returns when to check again: an hour after the end of the period, when the provider has billed
 * the next one, and at least once a day, because the period may end early.
 */
function computeNextCheck({ options }: BillingContext, { found }: UsageChargeContext): Date {
  const now = options.clock.now().getTime()
  const end = found.periodEndsAt?.getTime() ?? 0
  if (end > now) return new Date(Math.min(end + HOUR, now + DAY))
  return new Date(now + HOUR)
}
