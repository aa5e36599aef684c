import type { StripeContext } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { letGo } from './held/held-change.ts'
import { haveOneRhythm } from './periods/rhythm.ts'
import { retrieve } from './retrieve.ts'

const OVER: readonly string[] = ['canceled', 'incomplete_expired']

/** With several rhythms Stripe's own flag would end it with the shortest period: a year that is paid after a month. */
export async function cancelAtPeriodEnd(context: StripeContext, id: string): Promise<void> {
  const { stripe } = context
  const { items } = await letGo(context, await retrieve(stripe, id))
  const hasOneEnd = haveOneRhythm(items.data.map(({ price }) => price))
  await stripe.subscriptions.update(
    id,
    hasOneEnd ? { cancel_at_period_end: true } : { cancel_at: 'max_period_end' },
  )
}

/** Nothing happens when it is over already, or not there. */
export async function cancelNow(
  context: StripeContext,
  id: string,
  { invoiceNow = false }: { readonly invoiceNow?: boolean } = {},
): Promise<void> {
  const { stripe } = context
  try {
    await letGo(context, await retrieve(stripe, id))
    await stripe.subscriptions.cancel(id, invoiceNow ? { invoice_now: true } : {})
  } catch (error) {
    if (isMissing(error)) return
    const { status } = await stripe.subscriptions.retrieve(id)
    if (!OVER.includes(status)) throw error
  }
}
