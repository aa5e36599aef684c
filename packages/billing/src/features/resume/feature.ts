import type { BillingContext } from '../../core/context.ts'
import { NotOnGracePeriod } from '../../core/errors/errors.ts'
import { beginOperation, finishOperation } from '../../core/operation.ts'
import type { OperationIntent } from '../../core/storage/operations.ts'
import type { SubscriptionRecord } from '../../core/storage/tables.ts'
import { changeSubscription, type SubscriptionScope } from '../../core/subscription-scope.ts'
import { isOnGracePeriod } from '../../core/values/subscription-state.ts'
import { defineFeature } from '../define-feature.ts'
import { replaceSubscription } from '../swap/subscription.ts'

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Undoes a cancellation during the grace period. Nothing is charged, unless Braintree has
     * already ended the subscription: then a new period starts, less the credit that is left.
     * @throws {NotOnGracePeriod} if the subscription was not cancelled, or has ended.
     */
    resume(): Promise<Subscription>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    resume: true
  }
}

/** Resuming a cancelled subscription during its grace period. */
export const resumeFeature = defineFeature({
  changes: {
    resume: resumeCancelledSubscription,
  },
  operations: { resume: null },
})

/**
 * Undoes a cancellation. If the provider has already ended the subscription, creates a new one to
 * replace it.
 */
export async function resumeCancelledSubscription(subscription: SubscriptionScope): Promise<void> {
  const { context, record } = subscription
  const isOver =
    isOnGracePeriod(record, subscription.now()) && (await subscription.find())?.isOver === true
  subscription.record = isOver
    ? await resumeAnew(subscription)
    : await resumeSubscription(context, record)
}

/**
 * Creates a subscription with the same terms for the rest of the period, because the provider has
 * ended the old one.
 */
async function resumeAnew(subscription: SubscriptionScope) {
  const { context, record } = subscription
  return replaceSubscription(context, record, {
    price: record.providerPlan,
    skipTrial: false,
    prorate: true,
    keepsPrice: true,
    invoiceNow: false,
    ...(await subscription.readSwapTax(record.providerPlan)),
    prorationDate: null,
  })
}

/**
 * Undoes a cancellation. The operation is stored before the request, so that a retry after a lost
 * response can tell a subscription that was resumed from one that was never cancelled.
 */
async function resumeSubscription(
  context: BillingContext,
  record: SubscriptionRecord,
): Promise<SubscriptionRecord> {
  const { operations, options } = context
  const intent: OperationIntent = {
    owner: record.owner,
    kind: 'resume',
    request: { provider: record.provider, of: record.providerId },
  }
  if (!isOnGracePeriod(record, options.clock.now()) && !(await operations.find(intent))) {
    throw notOnGracePeriod()
  }
  return changeSubscription(context, record, async ({ found, locked, ask }) => {
    const begun = await operations.find(intent)
    const isRunning = found.endsAt === null
    const isOver = found.endsAt !== null && found.endsAt <= options.clock.now()
    if (isRunning || isOver) {
      if (begun) await finishOperation(context, locked, begun)
      if (isOver) throw notOnGracePeriod()
      return
    }
    const operation = await beginOperation(context, locked, intent)
    await ask((gateway) => gateway.resume(found.id))
    await finishOperation(context, locked, operation)
  })
}

function notOnGracePeriod(): NotOnGracePeriod {
  return new NotOnGracePeriod('Only a subscription in its grace period can be resumed')
}
