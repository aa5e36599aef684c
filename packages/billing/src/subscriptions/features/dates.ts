import { InvalidArgument } from '../../errors.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import { shown } from '../../values/arguments.ts'
import { LONGEST_TRIAL } from '../../values/trial.ts'
import { mindingPlan } from '../planned-swap.ts'
import type { SubscriptionHaving } from '../subscription-scope.ts'
import { billedAtOnce, hasTrial } from './billed-at-once.ts'

const DAY = 86_400_000

export function cancelAt(subscription: SubscriptionHaving<'endDates'>, at: Date): Promise<void> {
  subscription.requireRunning()
  requireFuture('The end', at, subscription.now())
  const { prorate } = subscription.settings
  return subscription.change(
    mindingPlan(subscription, 'cancelAt', async ({ found, ask }) => {
      const isSame = found.endsAt !== null && isSameSecond(found.endsAt, at)
      if (isSame && !found.isHeld) return
      await ask((gateway) => requirePart(gateway, 'endDates').set(found.id, at, { prorate }))
    }),
  )
}

export function extendTrial(subscription: SubscriptionHaving<'trials'>, to: Date): Promise<void> {
  subscription.requireRunning()
  requireTrialEnd(to, subscription.now())
  return subscription.change(
    mindingPlan(subscription, 'trial', async ({ found, ask }) => {
      const { trialEndsAt } = found
      if (trialEndsAt === null || trialEndsAt <= subscription.now()) {
        throw new InvalidArgument('There is no trial whose end could be moved')
      }
      if (isSameSecond(trialEndsAt, to)) return
      await ask((gateway) => requirePart(gateway, 'trials').setEnd(found.id, to))
    }),
  )
}

/** Nothing happens when it is over. */
export function endTrial(subscription: SubscriptionHaving<'trials'>): Promise<void> {
  subscription.requireRunning()
  const isOnTrial = (found: ProviderSubscription) => hasTrial(found, subscription.now())
  const minding = mindingPlan(subscription, 'trial', async ({ found, ask }) => {
    if (!isOnTrial(found)) return
    await ask((gateway) => requirePart(gateway, 'trials').setEnd(found.id, 'now'))
  })
  return subscription.change(billedAtOnce(minding, isOnTrial))
}

/** Or InvalidArgument, before any call. */
export function requireTrialEnd(end: Date, now: Date): Date {
  requireFuture('The end of a trial', end, now)
  if (end.getTime() - now.getTime() <= LONGEST_TRIAL * DAY) return end
  throw new InvalidArgument(`A trial lasts ${LONGEST_TRIAL} days at most`)
}

export function requireFuture(what: string, at: unknown, now: Date): void {
  if (at instanceof Date && at.getTime() > now.getTime()) return
  throw new InvalidArgument(
    `${what} is ${shown(at)}; expected a date that is still to come, after ${shown(now)}`,
  )
}

export function requirePast(what: string, at: unknown, now: Date): void {
  if (at instanceof Date && at.getTime() <= now.getTime()) return
  throw new InvalidArgument(
    `${what} is ${shown(at)}; expected a date that is over, before ${shown(now)}`,
  )
}

/** As exact as providers are. */
function isSameSecond(a: Date, b: Date): boolean {
  return Math.floor(a.getTime() / 1000) === Math.floor(b.getTime() / 1000)
}
