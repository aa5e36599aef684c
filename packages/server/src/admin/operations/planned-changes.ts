import type { SwapItem } from '@tollgate/billing'
import { z } from 'zod'
import type { Operation } from '../operation.ts'
import { defineSubscriptionChange } from './subscriptions.ts'

/** Operations on changes of the price that are planned for the end of the billing period. */
export const plannedChangeOperations: readonly Operation[] = [
  defineSubscriptionChange(
    {
      name: 'billing.planChange',
      summary: 'Change the price of a subscription when its next period begins',
      description:
        'Until then nothing changes, and nothing is charged. Replaces an earlier planned change; the present price and quantity cancel it. Fails with `conflict` at a provider that cannot plan changes.',
      effect: 'change',
    },
    {
      path: 'plan-change',
      fields: {
        price: z.string().min(1).max(255).describe("The provider's id of the new main price"),
        quantity: z
          .number()
          .int()
          .min(1)
          .max(1_000_000)
          .optional()
          .describe('Quantity of the new price. Without it the quantity stays as it is'),
      },
    },
    (subscription, { price, quantity }) => {
      if (quantity === undefined) return subscription.swapAtPeriodEnd(price)
      const others: SwapItem[] = subscription
        .items()
        .filter((item) => !item.isMain && item.price !== price)
        .map((item) => ({ price: item.price, quantity: item.quantity }))
      return subscription.swapAtPeriodEnd([{ price, quantity }, ...others])
    },
  ),
  defineSubscriptionChange(
    {
      name: 'billing.cancelPlannedChange',
      summary: 'Cancel the planned change of a subscription',
      description: 'The subscription keeps its price. Does nothing if no change is planned.',
      effect: 'change',
    },
    { path: 'cancel-planned-change', fields: {} },
    (subscription) => subscription.cancelPlannedSwap(),
  ),
]
