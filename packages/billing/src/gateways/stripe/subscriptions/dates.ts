import type { EndDates } from '../../contract/parts/subscriptions/end-dates.ts'
import type { Trials } from '../../contract/parts/subscriptions/trials.ts'
import { type StripeContext, toSeconds } from '../sdk/client.ts'
import { isWanted, itemsOf } from './change-params.ts'
import { throwUnpaid } from './confirmations.ts'
import { heldInvoice, heldItems, isAsked, letGo } from './held/held-change.ts'
import { payUpdate } from './held/pay-update.ts'
import { givesBackRest } from './periods/overdue.ts'
import { listRunning } from './periods/running.ts'
import { movingEnd } from './periods/withheld.ts'
import { retrieve } from './retrieve.ts'

/** The ends of subscriptions and of trials, on any day. */
export function stripeDates(context: StripeContext): {
  readonly endDates: EndDates
  readonly trials: Trials
} {
  const { stripe } = context
  return {
    endDates: {
      async set(id, at, { prorate }) {
        const current = await letGo(context, await retrieve(stripe, id))
        const invoices = prorate ? await listRunning(context, current) : []
        if (!prorate || !givesBackRest(current, invoices, at)) {
          await stripe.subscriptions.update(id, {
            cancel_at: toSeconds(at),
            proration_behavior: 'none',
          })
          return
        }
        const end = { cancel_at: toSeconds(at), proration_behavior: 'create_prorations' } as const
        await stripe.subscriptions.update(id, {
          ...end,
          ...(await movingEnd(context, current, { details: end, invoices })),
        })
      },
    },
    trials: {
      async setEnd(id, endsAt) {
        if (endsAt !== 'now') {
          const end = { trial_end: toSeconds(endsAt), proration_behavior: 'none' } as const
          await letGo(context, await retrieve(stripe, id))
          await stripe.subscriptions.update(id, end)
          return
        }
        const found = await retrieve(stripe, id)
        const held = heldInvoice(found)
        const isSame = isWanted(heldItems(found), itemsOf(found))
        if (held !== null && isSame && (await isAsked(context, held, found.customer))) {
          await throwUnpaid(stripe, held)
        }
        const current = await letGo(context, found)
        if (current.status !== 'trialing') return
        await payUpdate(context, current, { trial_end: 'now' }, null)
      },
    },
  }
}
