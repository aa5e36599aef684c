import { randomBytes } from 'node:crypto'
import { type LockedOwner, withOwnerLock } from '../../consistency/owner-lock.ts'
import type { BillingContext } from '../../context.ts'
import { isBillingError } from '../../error-codes.ts'
import { usageUnpaid } from '../../events/of-usage.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import type { UsageBatch, UsageSums } from '../../storage/queues/charged-usage.ts'
import type { SubscriptionRecord } from '../../storage/tables.ts'
import { type Money, money } from '../../values/money.ts'
import { ownerKey } from '../../values/owner.ts'
import type { UsageLedger } from '../../values/usage/bill.ts'
import { chargedWith, periodAt } from '../../values/usage/periods.ts'
import { chargeBatch, priceBatch, readLedger } from './charge-batch.ts'
import { type Charging, openCharging } from './charging.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const NEVER = 10_000 * DAY
const MOST_ATTEMPTS = 6

/** Charges what is due of a subscription's usage, and says until when nothing more will be. */
export function chargeUsage(context: BillingContext, record: SubscriptionRecord): Promise<Date> {
  return withOwnerLock(context, record.owner, async (locked) => {
    const row = await context.subscriptions.find(record.id)
    // While this waited for the lock, it was given to another owner, for whom it is due again soon.
    if (row && ownerKey(row.owner) !== ownerKey(record.owner)) return context.options.clock.now()
    const charging = await openCharging(context, record)
    if (typeof charging === 'string') {
      await context.usage.refuse(record.id, null, charging)
      return new Date(context.options.clock.now().getTime() + DAY)
    }
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
  if (typeof charging === 'string') return
  for (const batch of await charging.usage.listBatches(record.id)) {
    await chargeBatch(context, locked, charging, batch)
  }
}

/** What usage costs that was to be paid and is not. */
export async function owedForUsage(
  context: BillingContext,
  record: SubscriptionRecord,
): Promise<Money | null> {
  const charging = await openCharging(context, record)
  if (typeof charging === 'string') return null
  const { usage, part } = charging
  let cents = 0
  let before: (UsageLedger & { readonly from: number }) | null = null
  // Of one period each costs what it adds to those before it, as if they were paid.
  for (const batch of await usage.listBatches(record.id)) {
    const from = batch.period.from.getTime()
    const ledger: UsageLedger = before?.from === from ? before : await readLedger(charging, batch)
    const sums = await usage.sumOfBatch(record.id, batch.id)
    const { amount, bill } = await priceBatch(context, charging, ledger, sums)
    cents += amount.amount
    before = { from, used: added(ledger.used, sums), bills: [...ledger.bills, ...bill.meters] }
  }
  return money(cents, part.currency)
}

function added(sums: UsageSums, others: UsageSums): UsageSums {
  const all = new Map(sums)
  for (const [meter, value] of others) all.set(meter, (all.get(meter) ?? 0n) + value)
  return all
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
      const bill = { tax: 0, meters: [] }
      if (isFree) await usage.finishBatch(record.id, batch, { bill, at: now }, tx)
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
    const attempt = batch.declines + 1
    const nextAttemptAt = nextAttempt(found, attempt, now)
    const sums = await usage.sumOfBatch(record.id, batch.id)
    const ledger = await readLedger(charging, batch)
    const { amount } = await priceBatch(context, charging, ledger, sums)
    const unpaid = { id: batch.id, amount, attempt, nextAttemptAt, at: now }
    const dueAt = nextAttemptAt ?? new Date(now.getTime() + NEVER)
    await locked.lock.write(async (tx) => {
      await usage.putOffBatch(record.id, batch.id, { error: error.message, dueAt }, tx)
      await events.record(tx, usageUnpaid({ owner, provider }, unpaid))
    })
  }
}

/** With the next bill; where none comes any more some weeks long, and then only by `payNow()` or another card. */
function nextAttempt(
  { isOver, periodEndsAt }: ProviderSubscription,
  attempts: number,
  now: Date,
): Date | null {
  if (!isOver && periodEndsAt && periodEndsAt.getTime() > now.getTime() + HOUR) return periodEndsAt
  return attempts < MOST_ATTEMPTS ? new Date(now.getTime() + WEEK) : null
}

/** An hour after the period's end, when the next one was billed; and once a day, because it may end earlier. */
function nextLook({ options }: BillingContext, { found }: Charging): Date {
  const now = options.clock.now().getTime()
  const end = found.periodEndsAt?.getTime() ?? 0
  if (end > now) return new Date(Math.min(end + HOUR, now + DAY))
  return new Date(now + HOUR)
}
