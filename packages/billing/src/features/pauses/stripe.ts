import { type StripeContext, toSeconds } from '../../providers/stripe/client.ts'
import type { CollectionPauses } from './contract.ts'

/** Implements pauses for Stripe, where a paused subscription keeps the status `active`. */
export function createStripePauses({ stripe }: StripeContext): {
  readonly pauses: CollectionPauses
} {
  return {
    pauses: {
      async pause(id, { until, bills }) {
        const pause = {
          behavior: bills,
          ...(until === null ? {} : { resumes_at: toSeconds(until) }),
        }
        await stripe.subscriptions.update(id, { pause_collection: pause })
      },
      async unpause(id) {
        await stripe.subscriptions.update(id, { pause_collection: '' })
      },
    },
  }
}
