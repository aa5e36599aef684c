import { columnsOf } from '../../consistency/converge.ts'
import { abandon } from '../../consistency/settle-first-payment.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import { awaitsFirstPayment, onGracePeriod } from '../../values/subscription-state.ts'
import { mindingPlan } from '../planned-swap.ts'
import { resumeSubscription } from '../resume.ts'
import type { SubscriptionScope } from '../subscription-scope.ts'
import { replaceSubscription } from '../swap.ts'
import { usageFirst } from '../usage-first.ts'
import { billedAtOnce } from './billed-at-once.ts'

/** How a subscription is ended at once. */
export interface CancelNowOptions {
  /** Bill what is still to be billed, such as the difference of a swap. Default false. */
  readonly invoiceNow?: boolean
}

export function cancel(subscription: SubscriptionScope): Promise<void> {
  return subscription.change(
    mindingPlan(subscription, 'cancel', async ({ found, ask }) => {
      const { endsAt, periodEndsAt } = found
      // One that is to end later, by cancelAt(), ends with this period as well.
      const endsLater = endsAt !== null && periodEndsAt !== null && endsAt > periodEndsAt
      const isLater = subscription.can('endDates') && endsLater
      if (endsAt === null || isLater) await ask((gateway) => gateway.cancelAtPeriodEnd(found.id))
      // Whoever may still say yes to a change that waits would have it run on. To end then once more lets go of it.
      else if (found.isHeld) {
        await ask((gateway) =>
          requirePart(gateway, 'endDates').set(found.id, endsAt, { prorate: false }),
        )
      }
    }),
  )
}

export async function cancelNow(
  subscription: SubscriptionScope,
  { invoiceNow = false }: CancelNowOptions,
): Promise<void> {
  const { context, record } = subscription
  const end = mindingPlan(subscription, 'cancelNow', async ({ found, locked, ask }) => {
    const columns = columnsOf(context, record.provider, found)
    // Also its bill, which would stay open.
    if (awaitsFirstPayment(columns)) await abandon(locked, record.provider, found)
    await ask((gateway) => gateway.cancelNow(found.id, { invoiceNow }))
  })
  const change = invoiceNow ? usageFirst(subscription, end) : end
  await subscription.change(
    billedAtOnce(change, () => invoiceNow),
    { ends: true },
  )
  // Where we count usage, what was used until now is charged.
  await context.usage.lookAgain(record.provider, [record.id])
}

export async function resume(subscription: SubscriptionScope): Promise<void> {
  const { context, record } = subscription
  const isOver =
    onGracePeriod(record, subscription.now()) && (await subscription.find())?.isOver === true
  subscription.record = isOver
    ? await resumeAnew(subscription)
    : await resumeSubscription(context, record)
}

/** Where the provider has cancelled already: another one with the same terms, for what is left. */
async function resumeAnew(subscription: SubscriptionScope) {
  const { context, record } = subscription
  return replaceSubscription(context, record, {
    plan: record.providerPlan,
    skipTrial: false,
    prorate: true,
    keepsPrice: true,
    invoiceNow: false,
    ...(await subscription.taxOfSwap(record.providerPlan)),
    prorationDate: null,
  })
}
