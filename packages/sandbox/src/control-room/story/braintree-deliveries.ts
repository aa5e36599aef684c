import type { Delivery } from '../../core/outbox.ts'
import type { Merchant } from './merchants.ts'
import type { Step } from './step.ts'
import type { Watched } from './watched.ts'

/**
 * The notifications of each step, as it was told: Braintree's have no event that a step could name, so they are those of
 * the same moment which speak of its object.
 */
export function notificationsOf(
  { outbox }: Pick<Watched, 'outbox'>,
  { context }: Merchant,
  steps: readonly Step[],
): ReadonlyMap<Step, Delivery[]> {
  const moments = new Map<number, Step[]>()
  for (const step of steps) {
    const at = Date.parse(step.at)
    moments.set(at, [...(moments.get(at) ?? []), step])
  }
  const found = new Map<Step, Delivery[]>()
  for (const delivery of outbox.newestFirst()) {
    const then = delivery.provider === 'braintree' ? moments.get(delivery.createdAt) : undefined
    const step = then && aboutWhom(delivery, context.keys.publicKey, then)
    if (step) found.set(step, [...(found.get(step) ?? []), delivery])
  }
  return found
}

/** Money is told with the payment, anything else with the subscription. */
function aboutWhom(delivery: Delivery, key: string, steps: readonly Step[]): Step | undefined {
  const form = new URLSearchParams(delivery.body)
  if (!form.get('bt_signature')?.startsWith(`${key}|`)) return undefined
  const text = Buffer.from(form.get('bt_payload') ?? '', 'base64').toString()
  // Whose it is stands in all of them.
  const meant = steps.filter(({ facts, customer }) =>
    facts.some(({ objectId }) => objectId !== customer && text.includes(`<id>${objectId}</id>`)),
  )
  const isMoney = /charged|transaction|dispute|refund/.test(delivery.eventType)
  return meant.find(({ amount }) => (amount !== null) === isMoney) ?? meant[0]
}
