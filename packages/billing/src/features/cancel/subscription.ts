import { toStateColumns } from '../../core/converge.ts'
import type { SubscriptionScope, SubscriptionScopeWith } from '../../core/subscription-scope.ts'
import { isSameSecond, requireFuture } from '../../core/values/dates.ts'
import { awaitsFirstPayment } from '../../core/values/subscription-state.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { withPlannedSwapRule } from '../schedules/planned-swap.ts'
import { endUnpaidSubscription } from '../subscribe/settle-first-payment.ts'
import { rejectWhilePaused } from '../swap/reject-while-paused.ts'
import { sendUsageFirst } from '../usage/send-usage-first.ts'

/** Options for `cancelNow()`. */
export interface CancelNowOptions {
  /**
   * Whether to bill amounts that are not billed yet, such as the difference of a swap.
   * @default false
   */
  readonly invoiceNow?: boolean
}

export function cancelSubscriptionAtPeriodEnd(subscription: SubscriptionScope): Promise<void> {
  return subscription.change(
    withPlannedSwapRule(subscription, 'cancel', async ({ found, ask }) => {
      const { endsAt, periodEndsAt } = found
      // cancel() replaces a later end that cancelAt() has set.
      const endsLater = endsAt !== null && periodEndsAt !== null && endsAt > periodEndsAt
      const isLater = subscription.hasCapability('endDates') && endsLater
      if (endsAt === null || isLater) await ask((gateway) => gateway.cancelAtPeriodEnd(found.id))
      // A change that waits for the customer's authentication would make the subscription renew
      // again. Ending it once more on the same date discards that change.
      else if (found.isHeld) {
        await ask((gateway) =>
          requireGatewayPart(gateway, 'endDates').set(found.id, endsAt, { prorate: false }),
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
  const end = withPlannedSwapRule(subscription, 'cancelNow', async ({ found, locked, ask }) => {
    const columns = toStateColumns(context, record.provider, found)
    // Voids its first invoice too, which would stay open otherwise.
    if (awaitsFirstPayment(columns)) await endUnpaidSubscription(locked, record.provider, found)
    await ask((gateway) => gateway.cancelNow(found.id, { invoiceNow }))
  })
  const change = invoiceNow ? sendUsageFirst(subscription, end) : end
  await subscription.change(
    rejectWhilePaused(change, () => invoiceNow),
    { ends: true },
  )
  // Charges the usage so far, if billing counts it itself.
  await context.usage.retryUnpaid(record.provider, [record.id])
}

export function cancelAt(subscription: SubscriptionScopeWith<'endDates'>, at: Date): Promise<void> {
  subscription.requireRunning()
  requireFuture('The end', at, subscription.now())
  const { prorate } = subscription.settings
  return subscription.change(
    withPlannedSwapRule(subscription, 'cancelAt', async ({ found, ask }) => {
      const isSame = found.endsAt !== null && isSameSecond(found.endsAt, at)
      if (isSame && !found.isHeld) return
      await ask((gateway) => requireGatewayPart(gateway, 'endDates').set(found.id, at, { prorate }))
    }),
  )
}
