import type { BillingContext } from '../../core/context.ts'
import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { ProviderCheckout } from './contract.ts'

/**
 * A checkout page hosted by the provider, on which a customer subscribes, pays, or enters a card.
 */
export interface Checkout {
  /** The provider's id of the page. */
  readonly id: string
  /** URL to send the customer to. `null` once the page is no longer open. */
  readonly url: string | null
  /** When the page expires. */
  readonly expiresAt: Date
  /**
   * Status of the page. `open`: it waits for the customer. `complete`: the customer has finished.
   * `expired`: it can no longer be used.
   */
  readonly status: 'open' | 'complete' | 'expired'
  /**
   * Expires the page, so that the customer can no longer pay on it. Does nothing if the page is not
   * open.
   */
  expire(): Promise<void>
  /**
   * Reads the page from the provider, and returns it as the provider's SDK does. `null` if the
   * provider no longer has it.
   */
  asProvider(): Promise<unknown>
}

export function toCheckout(
  context: BillingContext,
  { owner, provider }: { readonly owner: Owner; readonly provider: ProviderName },
  providerCheckout: ProviderCheckout,
): Checkout {
  const { id, expiresAt } = providerCheckout
  let { url, status } = providerCheckout
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
        await locked.change(provider, (gateway) =>
          requireGatewayPart(gateway, 'checkout').expire(id),
        )
        await resumeInterrupted(context, locked)
        const now = await (await locked.gateway(provider)).checkout?.find(id)
        url = now?.url ?? null
        status = now?.status ?? 'expired'
      })
    },
    async asProvider() {
      const gateway = await context.gateway(provider)
      return (await requireGatewayPart(gateway, 'checkout').find(id))?.raw ?? null
    },
  }
}
