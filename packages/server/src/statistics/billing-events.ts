import { fromDecimal, type HandlerContext, type WebhookHandlers } from '@tollgate/billing'
import type braintree from 'braintree'
import type Stripe from 'stripe'
import type { Statistic } from './daily-statistics.ts'

/** What an event adds to the statistics; null for nothing. */
export type Counted = Pick<Statistic, 'name' | 'unit' | 'amount'>
type Reading = (event: never) => Counted | null

/** Handler name → what such an event is worth. One event for each payment, so that none counts twice. */
const READINGS: Readonly<Record<string, Reading>> = {
  handleInvoicePaid: ({ data }: Stripe.InvoicePaidEvent) =>
    revenue(data.object.amount_paid, data.object.currency),
  handleInvoicePaymentFailed: () => FAILED,
  handleSubscriptionChargedSuccessfully: ({ subscription }: SubscriptionNotification) => {
    const charge = subscription.transactions?.[0]
    if (!charge) return null
    const { amount, currency } = fromDecimal(charge.amount, charge.currencyIsoCode)
    return revenue(amount, currency)
  },
  handleSubscriptionChargedUnsuccessfully: () => FAILED,
}

type SubscriptionNotification = { readonly subscription: braintree.Subscription }

const FAILED: Counted = { name: 'charges.failed', unit: '', amount: 1 }

function revenue(amount: number, currency: string): Counted | null {
  return amount > 0 ? { name: 'revenue', unit: currency.toLowerCase(), amount } : null
}

type Handler = (this: unknown, event: never, context: HandlerContext) => unknown

/**
 * The application's handlers, with a look at the events that are about money. Each is counted first:
 * a handler that fails may run again, the statistic stays.
 */
export function observeHandlers(
  handlers: WebhookHandlers,
  count: (event: { readonly id: string }, counted: Counted) => Promise<void>,
): WebhookHandlers {
  const own = (name: string | symbol): Handler | null => {
    const found = Reflect.get(handlers, name) as unknown
    return typeof found === 'function' ? (found as Handler) : null
  }
  return new Proxy(handlers, {
    get(_target, name) {
      const handler = own(name)
      const read = typeof name === 'string' && Object.hasOwn(READINGS, name) ? READINGS[name] : null
      // Bound, since a class with private fields knows only itself.
      if (!read) return handler ? handler.bind(handlers) : Reflect.get(handlers, name)
      return async (event: never, context: HandlerContext) => {
        const counted = read(event)
        if (counted) await count({ id: `${context.provider}:${context.eventId}` }, counted)
        return handler ? handler.call(handlers, event, context) : context.runDefault()
      }
    },
  })
}
