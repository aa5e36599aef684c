import type Stripe from 'stripe'
import type { MetadataValues } from '../../providers/subscription.ts'
import { defineCapability } from '../define-feature.ts'
import { withoutReservedKeys } from './metadata.ts'

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Reads the metadata that `withMetadata()` stored with the subscription, from the provider.
     * Empty if there is none.
     * @throws NoSubscription if the provider no longer has the subscription.
     * @example
     * const { campaign } = await subscription.metadata()
     */
    metadata(): Promise<MetadataValues>
  }
}

/** The application's metadata, stored with a subscription at the provider. */
export const metadataCapability = defineCapability('metadata', {
  subscription: {
    async metadata(subscription) {
      const found = await subscription.requireFound()
      return (await subscription.gateway()).metadata.read(found)
    },
  },
  builder: ['withMetadata'],
  stripe: () => ({
    metadata: {
      read: async ({ raw }) => withoutReservedKeys((raw as Stripe.Subscription).metadata),
    },
  }),
})
