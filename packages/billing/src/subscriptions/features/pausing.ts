import { InvalidArgument } from '../../errors.ts'
import type { Pause, PausedBills } from '../../gateways/contract/parts/subscriptions/pauses.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import { awaitsFirstPayment } from '../../values/subscription-state.ts'
import { mindingPlan } from '../planned-swap.ts'
import type { SubscriptionHaving } from '../subscription-scope.ts'
import { requireFuture } from './dates.ts'

/** How a subscription is paused. */
export interface PauseOptions {
  /** When it goes on by itself. Default: when somebody calls `unpause()`. */
  readonly until?: Date
  /**
   * What becomes of the bills meanwhile. `void`: nobody ever pays them. `keep_as_draft`: they can be sent later.
   * `mark_uncollectible`: they are written off. Default `void`.
   */
  readonly bills?: PausedBills
}

const BILLS: readonly PausedBills[] = ['void', 'keep_as_draft', 'mark_uncollectible']

type Scope = SubscriptionHaving<'pauses'>

/** The whole pause is what is asked for, so a repeat finds it. */
export async function pause(
  subscription: Scope,
  { until, bills = 'void' }: PauseOptions,
): Promise<void> {
  subscription.requireRunning()
  if (until !== undefined) requireFuture('The end of a pause', until, subscription.now())
  if (!BILLS.includes(bills)) {
    throw new InvalidArgument(`bills: '${bills}' should be one of ${BILLS.join(', ')}`)
  }
  const { context, record } = subscription
  const wanted: Pause = { until: until ?? null, bills }
  await subscription.change(
    mindingPlan(subscription, 'pause', async ({ found, ask }) => {
      const standing = context.options.providers.standing(record.provider, found.status)
      if (awaitsFirstPayment({ standing })) {
        throw new InvalidArgument('Its first payment is missing: there is nothing to pause')
      }
      await ask((gateway) => requirePart(gateway, 'pauses').pause(found.id, wanted))
    }),
  )
}

/** Nothing happens when it is not paused. */
export async function unpause(subscription: Scope): Promise<void> {
  subscription.requireRunning()
  await subscription.change(
    mindingPlan(subscription, 'unpause', async ({ found, ask }) => {
      if (found.pause) await ask((gateway) => requirePart(gateway, 'pauses').unpause(found.id))
    }),
  )
}

export async function findPausedUntil(subscription: Scope): Promise<Date | null> {
  return (await subscription.find())?.pause?.until ?? null
}
