import { InvalidArgument } from '../../errors.ts'
import type { Swap, SwapPreview } from '../../gateways/contract/swap.ts'
import { requireKnownPlan, requireProvider } from '../known-plans.ts'
import type { SubscriptionScope } from '../subscription-scope.ts'
import { type SwapOptions, swapSubscription } from '../swap.ts'

/** Which plan, and how it is paid. */
export interface WantedSwap extends SwapOptions {
  readonly plan: string
  /** Bill the difference at once instead of with the next invoice. */
  readonly invoiceNow: boolean
}

export async function swap(subscription: SubscriptionScope, wanted: WantedSwap): Promise<void> {
  subscription.requireRunning()
  const { context, record } = subscription
  const asked = await requireSwap(subscription, wanted)
  subscription.record = await swapSubscription(context, record, asked)
}

export async function previewSwap(
  subscription: SubscriptionScope,
  wanted: WantedSwap,
): Promise<SwapPreview> {
  subscription.requireRunning()
  const gateway = await subscription.gateway()
  const asked = await requireSwap(subscription, wanted)
  return gateway.previewSwap(subscription.record.providerId, asked, subscription.now())
}

/** The same for both, because a preview that differs from the swap is worth nothing. */
async function requireSwap(
  subscription: SubscriptionScope,
  { plan, invoiceNow, prorationDate }: WantedSwap,
): Promise<Swap> {
  const { context, record, settings } = subscription
  if (typeof plan !== 'string' || plan === '') throw new InvalidArgument('Which plan to swap to?')
  requireKnownPlan(requireProvider(context, record.provider), plan)
  return {
    ...settings,
    plan,
    invoiceNow,
    tax: await subscription.tax(),
    before: await context.taxes.find(record.provider, record.providerId),
    prorationDate: prorationDate ?? null,
  }
}
