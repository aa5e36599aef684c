import { InvalidArgument } from '../../errors.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import type { ChangeAtProvider } from '../change.ts'

/** What is billed now would not be paid by anybody during a pause: InvalidArgument, before anything is changed. */
export function billedAtOnce(
  change: ChangeAtProvider,
  isBilled: (found: ProviderSubscription) => boolean = () => true,
): ChangeAtProvider {
  return async (current) => {
    if (current.found.pause && isBilled(current.found)) {
      throw new InvalidArgument(
        'It is paused, so nobody would pay what is billed now: unpause() first',
      )
    }
    await change(current)
  }
}

/** Whether a trial is under way. */
export function hasTrial({ trialEndsAt }: ProviderSubscription, now: Date): boolean {
  return trialEndsAt !== null && trialEndsAt > now
}
