import { withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import type { BillingContext } from '../context.ts'
import type { ProviderCheckout } from '../gateways/contract/parts/pages/checkout.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { ProviderName } from '../provider-name.ts'
import type { Owner } from '../values/owner.ts'

/** A page of the provider's on which a customer pays, subscribes, or leaves a card. */
export interface Checkout {
  /** The provider's id. */
  readonly id: string
  /** Where to send the customer; null once it is no longer open. */
  readonly url: string | null
  /** When it closes by itself. */
  readonly expiresAt: Date
  /** Whether it waits for the customer, was done, or can no longer be used. */
  readonly status: 'open' | 'complete' | 'expired'
  /** Closes it, so nobody can pay on it. Nothing happens when it is no longer open. */
  expire(): Promise<void>
  /** The SDK's own object, or null. */
  asProvider(): Promise<unknown>
}

export function toCheckout(
  context: BillingContext,
  { owner, provider }: { readonly owner: Owner; readonly provider: ProviderName },
  found: ProviderCheckout,
): Checkout {
  const { id, expiresAt } = found
  let { url, status } = found
  return {
    id,
    expiresAt,
    get url() {
      return url
    },
    get status() {
      return status
    },
    async expire() {
      await withOwnerLock(context, owner, async (locked) => {
        await locked.change(provider, (gateway) => requirePart(gateway, 'checkout').expire(id))
        await resumeInterrupted(context, locked)
        const now = await (await locked.gateway(provider)).checkout?.find(id)
        url = now?.url ?? null
        status = now?.status ?? 'expired'
      })
    },
    async asProvider() {
      const gateway = await context.gateway(provider)
      return (await requirePart(gateway, 'checkout').find(id))?.raw ?? null
    },
  }
}
