import type { SubscriptionRow } from '../../braintree/state/rows/subscriptions.ts'
import type { TransactionRow } from '../../braintree/state/rows/transactions.ts'
import type { PaymentMethodRow } from '../../braintree/state/rows/vault.ts'
import type { SandboxMerchant } from './merchants.ts'
import { type StepTone, type TimelineStep, toStepAmount } from './step.ts'

/**
 * Returns all past steps of a Braintree customer, oldest first. They are derived from the stored
 * objects, because Braintree keeps no events.
 */
export function deriveBraintreeSteps(merchant: SandboxMerchant, customer: string): TimelineStep[] {
  const { context, name } = merchant
  const { customers, paymentMethods, subscriptions, transactions } = context.tables
  const steps: TimelineStep[] = []
  const row = customers.get(customer)
  if (row) steps.push(toStep(row.createdAt, 'Customer created', 'plain', row.id, 'customer'))
  for (const { token, createdAt, instrument } of paymentMethods.findBy('customer', customer)) {
    steps.push(toStep(createdAt, 'Payment method added', 'plain', token, instrument.kind))
  }
  steps.push(...deletedMethodSteps(merchant, customer))
  // Before the subscriptions, because a failed payment is the reason why one goes past due.
  for (const transaction of transactions.findBy('customer', customer)) {
    steps.push(...transactionSteps(transaction), ...disputeSteps(transaction))
  }
  for (const subscription of subscriptions.findBy('customer', customer)) {
    steps.push(
      ...subscriptionSteps(subscription),
      ...subscriptionChangeSteps(merchant, subscription),
    )
  }
  const sorted = steps.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return sorted.map((step) => ({ ...step, customer, merchant: name }))
}

/** Returns the steps of deleted payment methods whose versions are still stored. */
function deletedMethodSteps({ context }: SandboxMerchant, customer: string): TimelineStep[] {
  const known = context.versions?.versionsOfOwner('paymentMethods', customer) ?? []
  return [...known].flatMap(([token, versions]) => {
    const [first, last] = [versions[0], versions.at(-1)]
    if (!first?.text || last?.text !== null) return []
    const { createdAt, instrument } = JSON.parse(first.text) as PaymentMethodRow
    return [
      toStep(createdAt, 'Payment method added', 'plain', token, instrument.kind),
      toStep(last.at, 'Payment method removed', 'warning', token, instrument.kind),
    ]
  })
}

const SUBSCRIPTION: Readonly<Record<SubscriptionRow['status'], readonly [string, StepTone]>> = {
  Pending: ['Subscription pending', 'plain'],
  Active: ['Subscription active', 'good'],
  'Past Due': ['Subscription went past due', 'bad'],
  Canceled: ['Subscription canceled', 'bad'],
  Expired: ['Subscription expired', 'warning'],
}

function subscriptionSteps(row: SubscriptionRow): TimelineStep[] {
  const history = [...row.statusHistory].sort((a, b) => a.timestamp - b.timestamp)
  return history.flatMap((event, index) => {
    const before = history[index - 1]
    if (before?.status === event.status) return []
    const [words, tone] = SUBSCRIPTION[event.status]
    const title = index === 0 && event.status === 'Active' ? 'Subscription started' : words
    const step = toStep(event.timestamp, title, tone, row.id, event.status)
    const note = before ? `Status: ${before.status} → ${event.status}` : `Plan: ${event.planId}`
    return [{ ...step, notes: [note] }]
  })
}

/** Returns the changes of plan or price, which leave no trace in the status history. */
function subscriptionChangeSteps(
  { context }: SandboxMerchant,
  { id, currency }: SubscriptionRow,
): TimelineStep[] {
  const versions = (context.versions?.versionsOf('subscriptions', id) ?? []).map(
    ({ at, text }) => ({ at, row: JSON.parse(text ?? '{}') as Partial<SubscriptionRow> }),
  )
  const price = (minor: number | undefined) => toStepAmount(minor, currency)?.text
  return versions.flatMap(({ at, row }, index) => {
    const before = versions[index - 1]?.row ?? row
    const notes = [
      ['Plan', before.planId, row.planId],
      ['Price', price(before.price), price(row.price)],
    ].flatMap(([name, was, is]) => (was === is ? [] : `${name}: ${was} → ${is}`))
    const step = toStep(at, 'Subscription changed', 'plain', id, String(row.status))
    return notes.length > 0 ? [{ ...step, notes }] : []
  })
}

const TRANSACTION: Readonly<
  Partial<Record<TransactionRow['status'], readonly [string, StepTone]>>
> = {
  authorized: ['Payment authorized', 'plain'],
  authorization_expired: ['Authorization expired', 'warning'],
  submitted_for_settlement: ['Payment submitted for settlement', 'good'],
  settled: ['Payment settled', 'good'],
  settlement_declined: ['Settlement declined', 'bad'],
  processor_declined: ['Payment declined', 'bad'],
  gateway_rejected: ['Payment rejected', 'bad'],
  failed: ['Payment failed', 'bad'],
  voided: ['Payment voided', 'warning'],
}

function disputeSteps({ id, dispute, amount, currency }: TransactionRow): TimelineStep[] {
  if (!dispute) return []
  const step = toStep(dispute.openedAt, 'Payment disputed', 'bad', id, dispute.kind)
  return [{ ...step, notes: [`Now ${dispute.status}`], amount: toStepAmount(amount, currency) }]
}

function transactionSteps(row: TransactionRow): TimelineStep[] {
  // `settling` is skipped: it lies between two states that have steps of their own, and PayPal
  // reaches it as soon as a payment is submitted.
  const history = row.statusHistory.filter(({ status }) => status !== 'settling')
  return history.flatMap((event, index) => {
    const words = TRANSACTION[event.status]
    // A sale that is authorized and submitted in one call is shown as one step.
    const passing = history[index + 1]?.timestamp === event.timestamp
    if (!words || passing) return []
    const [title, tone] = words
    const refund = row.type === 'credit' ? title.replace('Payment', 'Refund') : title
    const step = toStep(event.timestamp, refund, tone, row.id, event.status)
    const declined = tone === 'bad' && row.responseCode !== '1000'
    const notes = declined ? [`Response ${row.responseCode}`] : []
    return [{ ...step, notes, amount: toStepAmount(event.amount, row.currency) }]
  })
}

function toStep(
  at: number,
  title: string,
  tone: StepTone,
  objectId: string,
  type: string,
): TimelineStep {
  return {
    at: new Date(at).toISOString(),
    provider: 'braintree',
    merchant: null,
    customer: null,
    title,
    tone,
    amount: null,
    notes: [],
    facts: [{ type, eventId: null, objectId }],
  }
}
