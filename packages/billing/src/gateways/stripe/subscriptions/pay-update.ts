import type Stripe from 'stripe'
import { idOf } from '../sdk/client.ts'
import { throwUnpaid } from './confirmations.ts'

/**
 * A change that may have to be paid at once. A declined payment undoes it; one that needs the customer leaves it and
 * says so.
 */
export async function payUpdate(
  stripe: Stripe,
  id: string,
  params: Stripe.SubscriptionUpdateParams,
): Promise<void> {
  try {
    await stripe.subscriptions.update(id, { ...params, payment_behavior: 'error_if_incomplete' })
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code !== 'subscription_payment_intent_requires_action') throw error
    const { latest_invoice } = await stripe.subscriptions.update(id, {
      ...params,
      payment_behavior: 'allow_incomplete',
    })
    const invoice = idOf(latest_invoice)
    if (invoice) await throwUnpaid(stripe, invoice)
  }
}
