import { z } from 'zod'
import type { Operation } from '../operation.ts'
import { givenInstant } from './fields.ts'
import { defineSubscriptionChange } from './subscriptions.ts'

export const PAUSED_INVOICE_BEHAVIORS = ['void', 'keep_as_draft', 'mark_uncollectible'] as const

/** Operations that pause the payments of a subscription. */
export const pauseOperations: readonly Operation[] = [
  defineSubscriptionChange(
    {
      name: 'billing.pause',
      summary: 'Pause the payments of a subscription',
      description:
        'The subscription continues, but nothing is charged during the pause. A repeat replaces the pause. Fails with `conflict` at a provider that has no pauses.',
      effect: 'change',
    },
    {
      path: 'pause',
      fields: {
        until: givenInstant
          .nullable()
          .default(null)
          .describe('When the pause ends by itself. `null` until `billing.unpause`'),
        bills: z
          .enum(PAUSED_INVOICE_BEHAVIORS)
          .default('void')
          .describe('What happens to the invoices that are created during the pause'),
      },
    },
    (subscription, { until, bills }) =>
      subscription.pause({ bills, ...(until === null ? {} : { until: new Date(until) }) }),
  ),
  defineSubscriptionChange(
    {
      name: 'billing.unpause',
      summary: 'End the pause of a subscription',
      description: 'The next invoice is charged again. Does nothing if there is no pause.',
      effect: 'change',
    },
    { path: 'unpause', fields: {} },
    (subscription) => subscription.unpause(),
  ),
]
