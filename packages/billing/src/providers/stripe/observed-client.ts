import type { Observe } from '../../core/values/observer.ts'
import { buildOperationName } from '../operation.ts'
import type { Stripe } from '../sdk-types.ts'

/** The HTTP client of Stripe's SDK. */
export type StripeHttpClient = NonNullable<Stripe.StripeConfig['httpClient']>

/** Words in the paths of Stripe's API. Any other segment of a path is an id. */
const WORDS: ReadonlySet<string> = new Set(
  `v1 v2 account attach balance_transactions billing billing_portal cancel capture charges checkout
  confirm core coupons create_preview credit_notes customers detach disputes event_destinations
  event_summaries events expire finalize invoice_payments invoiceitems invoices lines
  mark_uncollectible meter_event_adjustments meter_event_session meter_event_stream meter_events
  meters migrate pay payment_intents payment_methods plans preview preview_lines prices products
  promotion_codes reactivate refunds release resume search send sessions setup_intents
  subscription_items subscription_schedules subscriptions tax_ids tax_rates upcoming void
  webhook_endpoints`.split(/\s+/),
)

/** Wraps the client so that each request, including each retry, is observed. */
export function observeStripe(client: StripeHttpClient, observe: Observe): StripeHttpClient {
  return {
    getClientName: () => client.getClientName(),
    makeRequest: (...request) => {
      const [, , path, method] = request
      const operation = buildOperationName(method, path, WORDS)
      return observe(
        { kind: 'request', provider: 'stripe', operation },
        () => client.makeRequest(...request),
        (response) => {
          const id = response.getHeaders()['request-id']
          return {
            status: response.getStatusCode(),
            requestId: typeof id === 'string' ? id : null,
          }
        },
      )
    },
  }
}
