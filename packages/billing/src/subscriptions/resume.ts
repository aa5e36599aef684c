import { begin, finish } from '../consistency/operation.ts'
import type { BillingContext } from '../context.ts'
import { NotOnGracePeriod } from '../errors.ts'
import type { Intent } from '../storage/operations.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'
import { onGracePeriod } from '../values/subscription-state.ts'
import { changeSubscription } from './change.ts'

/**
 * Takes a cancellation back. It is on record before it is asked for: a repeat after a lost answer finds the
 * subscription running, and tells that from one that nobody had cancelled.
 */
export async function resumeSubscription(
  context: BillingContext,
  record: SubscriptionRecord,
): Promise<SubscriptionRecord> {
  const { operations, options } = context
  const intent: Intent = {
    owner: record.owner,
    kind: 'resume',
    request: { provider: record.provider, of: record.providerId },
  }
  if (!onGracePeriod(record, options.clock.now()) && !(await operations.find(intent))) {
    throw notOnGracePeriod()
  }
  return changeSubscription(context, record, async ({ found, locked, ask }) => {
    const begun = await operations.find(intent)
    const isRunning = found.endsAt === null
    const isOver = found.endsAt !== null && found.endsAt <= options.clock.now()
    if (isRunning || isOver) {
      if (begun) await finish(context, locked, begun)
      if (isOver) throw notOnGracePeriod()
      return
    }
    const operation = await begin(context, locked, intent)
    await ask((gateway) => gateway.resume(found.id))
    await finish(context, locked, operation)
  })
}

function notOnGracePeriod(): NotOnGracePeriod {
  return new NotOnGracePeriod('Only a subscription in its grace period can be resumed')
}
