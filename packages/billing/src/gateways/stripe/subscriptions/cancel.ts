import type { StripeContext } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'

const OVER: readonly string[] = ['canceled', 'incomplete_expired']

/** Nothing happens when it is over already, or not there. */
export async function cancelNow(
  { stripe }: StripeContext,
  id: string,
  { invoiceNow = false }: { readonly invoiceNow?: boolean } = {},
): Promise<void> {
  try {
    await stripe.subscriptions.cancel(id, invoiceNow ? { invoice_now: true } : {})
  } catch (error) {
    if (isMissing(error)) return
    const { status } = await stripe.subscriptions.retrieve(id)
    if (!OVER.includes(status)) throw error
  }
}
