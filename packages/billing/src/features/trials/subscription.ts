import { InvalidArgument } from '../../core/errors/errors.ts'
import type { SubscriptionScopeWith } from '../../core/subscription-scope.ts'
import { isSameSecond, MAX_TRIAL_DAYS, requireFuture } from '../../core/values/dates.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { withPlannedSwapRule } from '../schedules/planned-swap.ts'
import { isOnTrialAt, rejectWhilePaused } from '../swap/reject-while-paused.ts'

const DAY = 86_400_000

export function extendTrial(
  subscription: SubscriptionScopeWith<'trials'>,
  to: Date,
): Promise<void> {
  subscription.requireRunning()
  requireTrialEnd(to, subscription.now())
  return subscription.change(
    withPlannedSwapRule(subscription, 'trial', async ({ found, ask }) => {
      const { trialEndsAt } = found
      if (trialEndsAt === null || trialEndsAt <= subscription.now()) {
        throw new InvalidArgument(
          'The subscription is not on trial, so it has no trial end to move',
        )
      }
      if (isSameSecond(trialEndsAt, to)) return
      await ask((gateway) => requireGatewayPart(gateway, 'trials').setEnd(found.id, to))
    }),
  )
}

/** Ends the subscription's trial now. Does nothing if the trial is over. */
export function endTrial(subscription: SubscriptionScopeWith<'trials'>): Promise<void> {
  subscription.requireRunning()
  const isOnTrial = (found: ProviderSubscription) => isOnTrialAt(found, subscription.now())
  const planAware = withPlannedSwapRule(subscription, 'trial', async ({ found, ask }) => {
    if (!isOnTrial(found)) return
    await ask((gateway) => requireGatewayPart(gateway, 'trials').setEnd(found.id, 'now'))
  })
  return subscription.change(rejectWhilePaused(planAware, isOnTrial))
}

/**
 * Checks the requested end of a trial before any request is sent.
 * @throws {InvalidArgument} if the date is not in the future, or is too far ahead.
 */
export function requireTrialEnd(end: Date, now: Date): Date {
  requireFuture('The end of a trial', end, now)
  if (end.getTime() - now.getTime() <= MAX_TRIAL_DAYS * DAY) return end
  throw new InvalidArgument(`A trial can last at most ${MAX_TRIAL_DAYS} days`)
}
