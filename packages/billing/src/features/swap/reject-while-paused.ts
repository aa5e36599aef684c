import { InvalidArgument } from '../../core/errors/errors.ts'
import type { ChangeAtProvider } from '../../core/subscription-scope.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import type { SwapPreview } from './contract.ts'

/** Tells whether a change of this subscription would create an invoice immediately. */
export type IsBilledNow = (found: ProviderSubscription) => boolean | Promise<boolean>

/**
 * Wraps a change of a subscription so that it is rejected if the subscription is paused and the
 * change would be billed immediately, because that invoice would stay unpaid.
 * @throws {InvalidArgument} before anything is changed.
 */
export function rejectWhilePaused(
  change: ChangeAtProvider,
  isBilled: IsBilledNow,
): ChangeAtProvider {
  return async (current) => {
    if (current.found.pause && (await isBilled(current.found))) throw wouldStayUnpaid()
    await change(current)
  }
}

/**
 * Returns the preview of a change, or throws InvalidArgument if the change itself would be
 * rejected: it would be billed immediately, but the subscription is paused.
 */
export async function rejectPreviewWhilePaused(
  preview: SwapPreview,
  find: () => Promise<ProviderSubscription>,
): Promise<SwapPreview> {
  if (preview.immediately && (await find()).pause) throw wouldStayUnpaid()
  return preview
}

function wouldStayUnpaid(): InvalidArgument {
  return new InvalidArgument(
    'The subscription is paused, so an invoice created now would not be paid: unpause() first',
  )
}

/** Whether the subscription is on trial at the time `now`. */
export function isOnTrialAt({ trialEndsAt }: ProviderSubscription, now: Date): boolean {
  return trialEndsAt !== null && trialEndsAt > now
}
