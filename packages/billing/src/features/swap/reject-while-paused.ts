import { InvalidArgument } from '../../core/errors/errors.ts'
import type { ChangeAtProvider } from '../../core/subscription-scope.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import type { SwapPreview } from './contract.ts'

/** Whether a change creates an invoice immediately. */
export type IsBilled = (found: ProviderSubscription) => boolean | Promise<boolean>

/**
 * Rejects a change that bills immediately while the subscription is paused, because the invoice
 * would stay unpaid.
 * @throws {InvalidArgument} before anything is changed.
 */
export function rejectWhilePaused(change: ChangeAtProvider, isBilled: IsBilled): ChangeAtProvider {
  return async (current) => {
    if (current.found.pause && (await isBilled(current.found))) throw wouldStayUnpaid()
    await change(current)
  }
}

/** Rejects the preview of a change that would itself be rejected because of a pause. */
export async function requirePayable(
  preview: SwapPreview,
  find: () => Promise<ProviderSubscription>,
): Promise<SwapPreview> {
  if (preview.immediately && (await find()).pause) throw wouldStayUnpaid()
  return preview
}

function wouldStayUnpaid(): InvalidArgument {
  return new InvalidArgument(
    'It is paused, so nobody would pay what is billed now: unpause() first',
  )
}

/** Whether the subscription is on trial. */
export function hasTrial({ trialEndsAt }: ProviderSubscription, now: Date): boolean {
  return trialEndsAt !== null && trialEndsAt > now
}
