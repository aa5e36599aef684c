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
    userId: record.userId,
    kind: 'resume',
    request: { provider: record.provider, of: record.providerId },
  }
  if (!onGracePeriod(record, options.clock.now()) && !(await operations.find(intent))) {
    throw notOnGracePeriod()
  }
  return changeSubscription(context, record, async (gateway, current, { lock }) => {
    const now = options.clock.now()
    const begun = await operations.find(intent)
    if (current.endsAt === null) {
      if (begun) await lock.write((tx) => operations.finish(begun, tx))
      return
    }
    if (current.endsAt <= now) {
      if (begun) await lock.write((tx) => operations.finish(begun, tx))
      throw notOnGracePeriod()
    }
    const operation = await lock.write((tx) => operations.begin(intent, now, tx))
    await gateway.resume(current.id)
    await lock.write((tx) => operations.finish(operation, tx))
  })
}

function notOnGracePeriod(): NotOnGracePeriod {
  return new NotOnGracePeriod('Only a subscription in its grace period can be resumed')
}
