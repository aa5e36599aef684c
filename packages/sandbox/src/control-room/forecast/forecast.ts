import { cancel, isOver as isBraintreeOver } from '../../braintree/state/subscription-status.ts'
import type { Scratch } from '../../scratch/scratch.ts'
import { cancelSubscription, isOver } from '../../stripe/state/subscription-status.ts'
import { inOneStep, UnitOfWork } from '../../stripe/state/unit-of-work.ts'
import { updateSubscription } from '../../stripe/subscriptions/subscription-update.ts'
import { braintreeSteps } from '../story/braintree-steps.ts'
import { clockOf } from '../story/clocks.ts'
import { findObject } from '../story/find-object.ts'
import { findMerchant, type Merchant } from '../story/merchants.ts'
import { type Amount, amountOf, type Step } from '../story/step.ts'
import { isAbout, readEvents } from '../story/stripe-events.ts'
import { toSteps } from '../story/stripe-steps.ts'
import type { Watched, Who } from '../story/watched.ts'
import { copyCustomer, copyOf } from './copy-rows.ts'
import { moveCopy } from './move-copy.ts'

/** What is supposed to be different from now on. */
export interface Supposition {
  readonly charges?: 'as-they-are' | 'next-declined' | 'all-declined'
  readonly subscriptions?: 'as-they-are' | 'cancel-at-period-end' | 'cancel-now'
}

export interface Forecast {
  /** ISO 8601. */
  readonly until: string
  /** Oldest first. */
  readonly steps: readonly Step[]
  /** By currency. */
  readonly paid: readonly Amount[]
  /** Each subscription's status at the end. */
  readonly subscriptions: ReadonlyArray<{ readonly id: string; readonly status: string }>
  /** What would fall due and fail. */
  readonly failedJobs: readonly string[]
}

/** More than that nobody reads. */
const MOST_EVENTS = 2000

/**
 * What will happen to a customer if nobody does anything, or if something is supposed. It happens on a
 * copy of the customer's rows, by the same code that will do it: the amounts are those that are charged.
 */
export async function forecast(
  watched: Watched,
  who: Who,
  until: Date,
  supposed: Supposition = {},
): Promise<Forecast> {
  const scratch = copyCustomer(watched, who)
  const found = who.provider === 'braintree' ? findMerchant(watched, who.merchant) : null
  const merchant = found && copyOf(scratch, found)
  const stepsOf = () => (merchant ? braintreeSteps(merchant, who.id) : stripeSteps(scratch, who.id))
  const known = new Set(stepsOf().map(nameOf))
  suppose(scratch, merchant, who, supposed)
  await moveCopy(scratch, clockOf(watched, who)?.id ?? null, until)
  const ahead = stepsOf().filter((step) => !known.has(nameOf(step)))
  const steps = ahead.map((step) => withoutLinks(watched, step))
  return {
    until: until.toISOString(),
    steps,
    paid: sumOf(steps),
    subscriptions: statusesOf(scratch, merchant, who.id),
    failedJobs: scratch.failures.list().map(({ job, key, message }) => `${job} ${key}: ${message}`),
  }
}

function suppose(
  scratch: Scratch,
  merchant: Merchant | null,
  { provider, id }: Who,
  supposed: Supposition,
): void {
  const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
  const declined = { 'next-declined': 1, 'all-declined': 500, 'as-they-are': 0 } as const
  for (let count = declined[supposed.charges ?? 'as-they-are']; count > 0; count--) {
    scratch.trouble.declineNextCharge(id, code)
  }
  const wish = supposed.subscriptions ?? 'as-they-are'
  if (wish === 'as-they-are') return
  const { stripe } = scratch
  if (stripe) cancelAtStripe(stripe, id, wish)
  // Braintree ends a subscription at once or not at all.
  for (const row of merchant?.context.tables.subscriptions.findBy('customer', id) ?? []) {
    if (merchant && !isBraintreeOver(row)) cancel(merchant.context, row, 'api')
  }
}

function cancelAtStripe(
  stripe: NonNullable<Scratch['stripe']>,
  customer: string,
  wish: 'cancel-at-period-end' | 'cancel-now',
): void {
  inOneStep(new UnitOfWork(stripe, { about: [customer] }), (work) => {
    for (const row of work.findBy('subscription', 'customer', customer)) {
      if (isOver(row)) continue
      if (wish === 'cancel-at-period-end') {
        updateSubscription(work, row, { cancel_at_period_end: true })
      } else {
        work.edit('subscription', row)
        cancelSubscription(work, row, 'cancellation_requested')
      }
    }
  })
}

/** A copy begins without Stripe's events; Braintree's rows tell of what was before, too. */
function stripeSteps({ stripe }: Scratch, id: string): Step[] {
  const events = stripe ? readEvents(stripe, { keep: isAbout(id), most: MOST_EVENTS }) : []
  return toSteps(events.reverse())
}

function nameOf({ at, title, facts }: Step): string {
  return JSON.stringify([at, title, facts])
}

/** What has not happened has no page to look at; what it happens to may have one. */
export function withoutLinks(watched: Watched, step: Step): Step {
  const facts = step.facts.map(({ type, objectId }) => ({
    type,
    eventId: null,
    objectId: objectId !== null && findObject(watched, objectId, step.merchant) ? objectId : null,
  }))
  return { ...step, facts }
}

/** What comes in, by currency. */
export function sumOf(steps: readonly Step[]): Amount[] {
  const sums = new Map<string, number>()
  for (const { amount, facts } of steps) {
    const paid = facts.some(({ type }) => PAID.has(type))
    if (amount && paid) sums.set(amount.currency, (sums.get(amount.currency) ?? 0) + amount.minor)
  }
  return [...sums].flatMap(([currency, minor]) => amountOf(minor, currency) ?? [])
}

const PAID = new Set(['invoice.paid', 'submitted_for_settlement'])

function statusesOf({ stripe }: Scratch, merchant: Merchant | null, customer: string) {
  const rows = [
    ...(stripe?.tables.subscription.findBy('customer', customer) ?? []),
    ...(merchant?.context.tables.subscriptions.findBy('customer', customer) ?? []),
  ]
  return rows.map(({ id, status }) => ({ id, status }))
}
