import {
  cancelSubscriptionRow,
  isCanceledOrExpired as isBraintreeOver,
} from '../../braintree/state/subscription-status.ts'
import type { OfflineSandbox } from '../../offline/offline-sandbox.ts'
import { cancelSubscription, hasEnded } from '../../stripe/state/subscription-status.ts'
import { runAtomically, UnitOfWork } from '../../stripe/state/unit-of-work.ts'
import { updateSubscription } from '../../stripe/subscriptions/subscription-update.ts'
import { deriveBraintreeSteps } from '../story/braintree-steps.ts'
import { findCustomerTestClock } from '../story/clocks.ts'
import { findObject } from '../story/find-object.ts'
import { findMerchant, type SandboxMerchant } from '../story/merchants.ts'
import type { CustomerRef, ObservedSandbox } from '../story/observed-sandbox.ts'
import { type StepAmount, type TimelineStep, toStepAmount } from '../story/step.ts'
import { createCustomerEventFilter, readEvents } from '../story/stripe-events.ts'
import { toTimelineSteps } from '../story/stripe-steps.ts'
import { advanceCopy, copyCustomer, copyMerchant } from './copy-rows.ts'

/** Assumptions of a forecast, such as that the next charge is declined. */
export interface ForecastAssumptions {
  readonly charges?: 'as-they-are' | 'next-declined' | 'all-declined'
  readonly subscriptions?: 'as-they-are' | 'cancel-at-period-end' | 'cancel-now'
}

export interface BillingForecast {
  /** End of the forecast in ISO 8601 format. */
  readonly until: string
  /** Predicted steps in chronological order. */
  readonly steps: readonly TimelineStep[]
  /** Sums of the predicted successful payments, one for each currency. */
  readonly paid: readonly StepAmount[]
  /** Status of each subscription at the end of the forecast. */
  readonly subscriptions: ReadonlyArray<{ readonly id: string; readonly status: string }>
  /** Scheduled jobs that would fail. */
  readonly failedJobs: readonly string[]
}

/** Maximum number of events of a forecast. */
const MAX_EVENTS = 2000

/**
 * Predicts what will happen to a customer until a date, optionally under assumptions. The forecast
 * runs the sandbox's own code on a copy of the customer's objects, so its amounts are exact.
 */
export async function forecastCustomer(
  sandbox: ObservedSandbox,
  customerRef: CustomerRef,
  until: Date,
  forecastAssumptions: ForecastAssumptions = {},
): Promise<BillingForecast> {
  const scratch = copyCustomer(sandbox, customerRef)
  const found =
    customerRef.provider === 'braintree' ? findMerchant(sandbox, customerRef.merchant) : null
  const merchant = found && copyMerchant(scratch, found)
  const stepsOf = () =>
    merchant
      ? deriveBraintreeSteps(merchant, customerRef.id)
      : listForecastStripeSteps(scratch, customerRef.id)
  const known = new Set(stepsOf().map(nameOf))
  applyAssumptions(scratch, merchant, customerRef, forecastAssumptions)
  await advanceCopy(scratch, findCustomerTestClock(sandbox, customerRef)?.id ?? null, until)
  const ahead = stepsOf().filter((step) => !known.has(nameOf(step)))
  const steps = ahead.map((step) => removeStepLinks(sandbox, step))
  return {
    until: until.toISOString(),
    steps,
    paid: sumByCurrency(steps),
    subscriptions: listSubscriptionStatuses(scratch, merchant, customerRef.id),
    failedJobs: scratch.failures.list().map(({ job, key, message }) => `${job} ${key}: ${message}`),
  }
}

function applyAssumptions(
  scratch: OfflineSandbox,
  merchant: SandboxMerchant | null,
  { provider, id }: CustomerRef,
  supposed: ForecastAssumptions,
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
  // Braintree can only cancel a subscription immediately.
  for (const row of merchant?.context.tables.subscriptions.findBy('customer', id) ?? []) {
    if (merchant && !isBraintreeOver(row)) cancelSubscriptionRow(merchant.context, row, 'api')
  }
}

function cancelAtStripe(
  stripe: NonNullable<OfflineSandbox['stripe']>,
  customer: string,
  cancellationMode: 'cancel-at-period-end' | 'cancel-now',
): void {
  runAtomically(new UnitOfWork(stripe, { about: [customer] }), (work) => {
    for (const row of work.findBy('subscription', 'customer', customer)) {
      if (hasEnded(row)) continue
      if (cancellationMode === 'cancel-at-period-end') {
        updateSubscription(work, row, { cancel_at_period_end: true })
      } else {
        work.edit('subscription', row)
        cancelSubscription(work, row, 'cancellation_requested')
      }
    }
  })
}

/**
 * Returns a customer's steps. The copy starts without Stripe's events, so all steps at Stripe are
 * new.
 */
function listForecastStripeSteps({ stripe }: OfflineSandbox, id: string): TimelineStep[] {
  const events = stripe
    ? readEvents(stripe, { keep: createCustomerEventFilter(id), most: MAX_EVENTS })
    : []
  return toTimelineSteps(events.reverse())
}

function nameOf({ at, title, facts }: TimelineStep): string {
  return JSON.stringify([at, title, facts])
}

/** Removes links from a step to events and objects that exist only in the forecast. */
export function removeStepLinks(sandbox: ObservedSandbox, step: TimelineStep): TimelineStep {
  const facts = step.facts.map(({ type, objectId }) => ({
    type,
    eventId: null,
    objectId: objectId !== null && findObject(sandbox, objectId, step.merchant) ? objectId : null,
  }))
  return { ...step, facts }
}

/** Sums the successful payments of some steps, for each currency. */
export function sumByCurrency(steps: readonly TimelineStep[]): StepAmount[] {
  const sums = new Map<string, number>()
  for (const { amount, facts } of steps) {
    const paid = facts.some(({ type }) => PAID_EVENT_TYPES.has(type))
    if (amount && paid) sums.set(amount.currency, (sums.get(amount.currency) ?? 0) + amount.minor)
  }
  return [...sums].flatMap(([currency, minor]) => toStepAmount(minor, currency) ?? [])
}

const PAID_EVENT_TYPES = new Set(['invoice.paid', 'submitted_for_settlement'])

function listSubscriptionStatuses(
  { stripe }: OfflineSandbox,
  merchant: SandboxMerchant | null,
  customer: string,
) {
  const rows = [
    ...(stripe?.tables.subscription.findBy('customer', customer) ?? []),
    ...(merchant?.context.tables.subscriptions.findBy('customer', customer) ?? []),
  ]
  return rows.map(({ id, status }) => ({ id, status }))
}
