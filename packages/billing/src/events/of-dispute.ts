import type { ProviderDispute } from '../gateways/contract/parts/money/disputes.ts'
import type { DisputeFacts, NewBillingEvent } from './billing-event.ts'
import type { About } from './of-invoice.ts'

/** Whether nobody can decide it otherwise any more. */
export function isDecided({ status }: Pick<ProviderDispute, 'status'>): boolean {
  return status === 'won' || status === 'lost'
}

/** What there is to tell when its row is written: that it is there, that a question became serious, how it ended. */
export function eventsOfDispute(
  { owner, provider }: About,
  before: Pick<ProviderDispute, 'status'> | null,
  found: ProviderDispute,
): NewBillingEvent[] {
  const about = `${provider}:${found.id}`
  const base = { owner, provider, data: { dispute: factsOf(found) } }
  const isInquiry = found.status === 'inquiry'
  const isSerious = !isInquiry && (before === null || before.status === 'inquiry')
  const isOver = isDecided(found) && before?.status !== found.status
  const opened = isInquiry && before === null ? `${about}:inquiry` : isSerious ? about : null
  return [
    ...(opened === null ? [] : [{ ...base, type: 'dispute.opened' as const, subject: opened }]),
    ...(isOver
      ? [{ ...base, type: 'dispute.closed' as const, subject: `${about}:${found.status}` }]
      : []),
  ]
}

function factsOf(found: ProviderDispute): DisputeFacts {
  const { id, charge, subscriptionId: subscription, amount, reason, status, openedAt } = found
  return { id, charge, subscription, amount, reason, status, openedAt: openedAt.toISOString() }
}
