import type { NewSubscription } from '../../subscription.ts'
import type { SwapPreview } from '../../swap.ts'

/** Bills that are still to come. */
export interface Forecasts {
  /** The next bill as things stand; null when none comes. */
  upcoming(id: string, now: Date): Promise<SwapPreview | null>
  /** What `createSubscription` would cost. The customer may not be there yet. */
  ofNew(
    subscription: Omit<NewSubscription, 'operation' | 'customerId'> & {
      readonly customerId: string | null
    },
    now: Date,
  ): Promise<SwapPreview>
}
