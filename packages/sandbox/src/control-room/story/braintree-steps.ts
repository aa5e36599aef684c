import type { BraintreeContext } from '../../braintree/state/context.ts'
import type { SubscriptionRow } from '../../braintree/state/rows/subscriptions.ts'
import type { TransactionRow } from '../../braintree/state/rows/transactions.ts'
import { amountOf, type Step, type Tone } from './step.ts'

/** Everything the rows of a customer tell, oldest first. Braintree keeps no events. */
export function braintreeSteps(context: BraintreeContext, customer: string): Step[] {
  const { customers, paymentMethods, subscriptions, transactions } = context.tables
  const steps: Step[] = []
  const row = customers.get(customer)
  if (row) steps.push(toStep(row.createdAt, 'Customer created', 'plain', row.id, 'customer'))
  for (const { token, createdAt, instrument } of paymentMethods.findBy('customer', customer)) {
    steps.push(toStep(createdAt, 'Payment method added', 'plain', token, instrument.kind))
  }
  // Before the subscriptions: a payment that fails is why one goes past due.
  for (const transaction of transactions.findBy('customer', customer)) {
    steps.push(...ofTransaction(transaction))
  }
  for (const subscription of subscriptions.findBy('customer', customer)) {
    steps.push(...ofSubscription(subscription))
  }
  const sorted = steps.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return sorted.map((step) => ({ ...step, customer }))
}

const SUBSCRIPTION: Readonly<Record<SubscriptionRow['status'], readonly [string, Tone]>> = {
  Pending: ['Subscription waits for its first billing date', 'plain'],
  Active: ['Subscription active', 'good'],
  'Past Due': ['Subscription went past due', 'bad'],
  Canceled: ['Subscription canceled', 'bad'],
  Expired: ['Subscription ran its course', 'warning'],
}

function ofSubscription(row: SubscriptionRow): Step[] {
  const history = [...row.statusHistory].sort((a, b) => a.timestamp - b.timestamp)
  return history.flatMap((event, index) => {
    const before = history[index - 1]
    if (before?.status === event.status && before.planId === event.planId) return []
    const [title, tone] = SUBSCRIPTION[event.status]
    const started = index === 0 && event.status === 'Active'
    const step = toStep(
      event.timestamp,
      started ? 'Subscription started' : title,
      tone,
      row.id,
      event.status,
    )
    const notes = before
      ? [`Status: ${before.status} → ${event.status}`]
      : [`Plan: ${event.planId}`]
    return [{ ...step, notes }]
  })
}

const TRANSACTION: Readonly<Partial<Record<TransactionRow['status'], readonly [string, Tone]>>> = {
  authorized: ['Payment authorized', 'plain'],
  authorization_expired: ['Authorization expired', 'warning'],
  submitted_for_settlement: ['Payment taken', 'good'],
  settled: ['Payment settled', 'good'],
  settlement_declined: ['Settlement declined', 'bad'],
  processor_declined: ['Payment declined', 'bad'],
  gateway_rejected: ['Payment rejected', 'bad'],
  failed: ['Payment failed', 'bad'],
  voided: ['Payment voided', 'warning'],
}

function ofTransaction(row: TransactionRow): Step[] {
  // On its way between two states that are news; PayPal's is there as soon as it is taken.
  const history = row.statusHistory.filter(({ status }) => status !== 'settling')
  return history.flatMap((event, index) => {
    const words = TRANSACTION[event.status]
    // What is authorized and taken at once is taken.
    const passing = history[index + 1]?.timestamp === event.timestamp
    if (!words || passing) return []
    const [title, tone] = words
    const refund = row.type === 'credit' ? title.replace('Payment', 'Refund') : title
    const step = toStep(event.timestamp, refund, tone, row.id, event.status)
    const declined = tone === 'bad' && row.responseCode !== '1000'
    const notes = declined ? [`Response ${row.responseCode}`] : []
    return [{ ...step, notes, amount: amountOf(event.amount, row.currency) }]
  })
}

function toStep(at: number, title: string, tone: Tone, objectId: string, type: string): Step {
  return {
    at: new Date(at).toISOString(),
    provider: 'braintree',
    customer: null,
    title,
    tone,
    amount: null,
    notes: [],
    facts: [{ type, eventId: null, objectId }],
  }
}
