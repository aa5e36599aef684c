import { InvalidArgument } from '../../core/errors/errors.ts'
import type { SubscriptionHaving } from '../../core/subscription-scope.ts'
import { isSameSecond, LONGEST_TRIAL, requireFuture } from '../../core/values/dates.ts'
import { requirePart } from '../../providers/gateway-parts.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { withPlanRule } from '../schedules/planned-swap.ts'
import { hasTrial, rejectWhilePaused } from '../swap/reject-while-paused.ts'

const DAY = 86_400_000

export function extendTrial(subscription: SubscriptionHaving<'trials'>, to: Date): Promise<void> {
  subscription.requireRunning()
  requireTrialEnd(to, subscription.now())
  return subscription.change(
    withPlanRule(subscription, 'trial', async ({ found, ask }) => {
      const { trialEndsAt } = found
      if (trialEndsAt === null || trialEndsAt <= subscription.now()) {
        throw new InvalidArgument('There is no trial whose end could be moved')
      }
      if (isSameSecond(trialEndsAt, to)) return
      await ask((gateway) => requirePart(gateway, 'trials').setEnd(found.id, to))
    }),
  )
}

/** Ends the trial. Does nothing if it is over. */
export function endTrial(subscription: SubscriptionHaving<'trials'>): Promise<void> {
  subscription.requireRunning()
  const isOnTrial = (found: ProviderSubscription) => hasTrial(found, subscription.now())
  const planAware = withPlanRule(subscription, 'trial', async ({ found, ask }) => {
    if (!isOnTrial(found)) return
    await ask((gateway) => requirePart(gateway, 'trials').setEnd(found.id, 'now'))
  })
  return subscription.change(rejectWhilePaused(planAware, isOnTrial))
}

/**
 * Checks the end of a trial before any request.
 * @throws {InvalidArgument} if it is not in the future, or too late.
 */
export function requireTrialEnd(end: Date, now: Date): Date {
  requireFuture('The end of a trial', end, now)
  if (end.getTime() - now.getTime() <= LONGEST_TRIAL * DAY) return end
  throw new InvalidArgument(`A trial lasts ${LONGEST_TRIAL} days at most`)
}
