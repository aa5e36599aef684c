import { InvalidArgument } from '../../core/errors/errors.ts'
import type { SubscriptionScopeWith } from '../../core/subscription-scope.ts'
import { requireFuture } from '../../core/values/dates.ts'
import { awaitsFirstPayment } from '../../core/values/subscription-state.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { CollectionPause, PausedBills } from '../../providers/subscription.ts'
import { withPlannedSwapRule } from '../schedules/planned-swap.ts'

/** Options for `pause()`. */
export interface PauseOptions {
  /** When the pause ends automatically. Default: it lasts until `unpause()` is called. */
  readonly until?: Date
  /**
   * Treatment of the invoices created during the pause. `void`: they are never paid.
   * `keep_as_draft`: they can be sent later. `mark_uncollectible`: they are written off.
   * @default 'void'
   */
  readonly bills?: PausedBills
}

const BILLS: readonly PausedBills[] = ['void', 'keep_as_draft', 'mark_uncollectible']

type Scope = SubscriptionScopeWith<'pauses'>

/**
 * Pauses the subscription, and replaces a current pause with these options. Repeated calls have the
 * same result.
 */
export async function pauseSubscription(
  subscription: Scope,
  { until, bills = 'void' }: PauseOptions,
): Promise<void> {
  subscription.requireRunning()
  if (until !== undefined) requireFuture('The end of a pause', until, subscription.now())
  if (!BILLS.includes(bills)) {
    throw new InvalidArgument(`bills: '${bills}' should be one of ${BILLS.join(', ')}`)
  }
  const { context, record } = subscription
  const wanted: CollectionPause = { until: until ?? null, bills }
  await subscription.change(
    withPlannedSwapRule(subscription, 'pause', async ({ found, ask }) => {
      const standing = context.options.providers.standing(record.provider, found.status)
      if (awaitsFirstPayment({ standing })) {
        throw new InvalidArgument('The subscription cannot be paused before its first payment')
      }
      await ask((gateway) => requireGatewayPart(gateway, 'pauses').pause(found.id, wanted))
    }),
  )
}

/** Ends the subscription's pause. Does nothing if it is not paused. */
export async function unpauseSubscription(subscription: Scope): Promise<void> {
  subscription.requireRunning()
  await subscription.change(
    withPlannedSwapRule(subscription, 'unpause', async ({ found, ask }) => {
      if (found.pause)
        await ask((gateway) => requireGatewayPart(gateway, 'pauses').unpause(found.id))
    }),
  )
}

export async function findPausedUntil(subscription: Scope): Promise<Date | null> {
  return (await subscription.find())?.pause?.until ?? null
}
