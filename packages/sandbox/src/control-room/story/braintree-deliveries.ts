import type { Delivery } from '../../core/outbox.ts'
import type { SandboxMerchant } from './merchants.ts'
import type { ObservedSandbox } from './observed-sandbox.ts'
import type { TimelineStep } from './step.ts'

/**
 * Returns Braintree's notifications about each step. Braintree has no events that steps could refer
 * to, so a notification belongs to the step that happened at the same time and whose object the
 * notification contains.
 */
export function mapNotificationsToSteps(
  { outbox }: Pick<ObservedSandbox, 'outbox'>,
  { context }: SandboxMerchant,
  steps: readonly TimelineStep[],
): ReadonlyMap<TimelineStep, Delivery[]> {
  const moments = new Map<number, TimelineStep[]>()
  for (const step of steps) {
    const at = Date.parse(step.at)
    moments.set(at, [...(moments.get(at) ?? []), step])
  }
  const found = new Map<TimelineStep, Delivery[]>()
  for (const delivery of outbox.newestFirst()) {
    const then = delivery.provider === 'braintree' ? moments.get(delivery.createdAt) : undefined
    const step = then && findStep(delivery, context.keys.publicKey, then)
    if (step) found.set(step, [...(found.get(step) ?? []), delivery])
  }
  return found
}

/**
 * Finds the step of a notification. A notification about a payment belongs to a step with an
 * amount, any other notification to a step without an amount.
 */
function findStep(
  delivery: Delivery,
  key: string,
  steps: readonly TimelineStep[],
): TimelineStep | undefined {
  const form = new URLSearchParams(delivery.body)
  if (!form.get('bt_signature')?.startsWith(`${key}|`)) return undefined
  const text = Buffer.from(form.get('bt_payload') ?? '', 'base64').toString()
  // The customer's id is in every notification, so it says nothing about the step.
  const meant = steps.filter(({ facts, customer }) =>
    facts.some(({ objectId }) => objectId !== customer && text.includes(`<id>${objectId}</id>`)),
  )
  const isMoney = /charged|transaction|dispute|refund/.test(delivery.eventType)
  return meant.find(({ amount }) => (amount !== null) === isMoney) ?? meant[0]
}
