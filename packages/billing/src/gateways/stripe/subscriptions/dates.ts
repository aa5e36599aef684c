import type { EndDates } from '../../contract/parts/subscriptions/end-dates.ts'
import type { Trials } from '../../contract/parts/subscriptions/trials.ts'
import { type StripeContext, toSeconds } from '../sdk/client.ts'
import { payUpdate } from './pay-update.ts'

/** The ends of subscriptions and of trials, on any day. */
export function stripeDates({ stripe }: StripeContext): {
  readonly endDates: EndDates
  readonly trials: Trials
} {
  return {
    endDates: {
      async set(id, at, { prorate }) {
        await stripe.subscriptions.update(id, {
          cancel_at: toSeconds(at),
          proration_behavior: prorate ? 'create_prorations' : 'none',
        })
      },
    },
    trials: {
      async setEnd(id, endsAt) {
        if (endsAt !== 'now') {
          const end = { trial_end: toSeconds(endsAt), proration_behavior: 'none' } as const
          await stripe.subscriptions.update(id, end)
          return
        }
        const { status } = await stripe.subscriptions.retrieve(id)
        if (status === 'trialing') await payUpdate(stripe, id, { trial_end: 'now' })
      },
    },
  }
}
