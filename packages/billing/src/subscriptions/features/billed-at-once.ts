import { InvalidArgument } from '../../errors.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import type { SwapPreview } from '../../gateways/contract/swap.ts'
import type { ChangeAtProvider } from '../change.ts'

/** Whether a change brings a bill of its own, now. */
export type IsBilled = (found: ProviderSubscription) => boolean | Promise<boolean>

/** What is billed now would not be paid by anybody during a pause: InvalidArgument, before anything is changed. */
export function billedAtOnce(change: ChangeAtProvider, isBilled: IsBilled): ChangeAtProvider {
  return async (current) => {
    if (current.found.pause && (await isBilled(current.found))) throw nobodyPays()
    await change(current)
  }
}

/** The preview of such a change is refused as the change is. */
export async function payable(
  preview: SwapPreview,
  find: () => Promise<ProviderSubscription>,
): Promise<SwapPreview> {
  if (preview.immediately && (await find()).pause) throw nobodyPays()
  return preview
}

function nobodyPays(): InvalidArgument {
  return new InvalidArgument(
    'It is paused, so nobody would pay what is billed now: unpause() first',
  )
}

/** Whether a trial is under way. */
export function hasTrial({ trialEndsAt }: ProviderSubscription, now: Date): boolean {
  return trialEndsAt !== null && trialEndsAt > now
}
