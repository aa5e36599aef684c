import type { Pauses } from '../../../contract/parts/subscriptions/pauses.ts'
import { type StripeContext, toSeconds } from '../../sdk/client.ts'

/** At Stripe the subscription stays active meanwhile. */
export function stripePauses({ stripe }: StripeContext): { readonly pauses: Pauses } {
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
