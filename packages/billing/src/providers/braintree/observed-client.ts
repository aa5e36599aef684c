import type { Observe } from '../../core/values/observer.ts'
import { buildOperationName } from '../operation.ts'
import type { braintree } from '../sdk-types.ts'

/** The HTTP client of Braintree's SDK, which has no types. */
interface BraintreeHttp {
  httpRequest(method: string, path: string, ...rest: unknown[]): Promise<unknown>
}

/** Words in the paths of Braintree's API. Any other segment of a path is an id or a token. */
const WORDS: ReadonlySet<string> = new Set(
  `accept add_ons addresses advanced_search advanced_search_ids any cancel client_token credit_card
  customers discounts disputes evidence finalize line_items merchant_accounts nonces
  payment_method_nonces payment_methods paypal_account plans refund retry subscriptions
  submit_for_partial_settlement submit_for_settlement transactions void`.split(/\s+/),
)

/**
 * Replaces the gateway's request function so that each request is observed. The SDK reveals neither
 * the status nor the headers of a response.
 */
export function observeBraintree(gateway: braintree.BraintreeGateway, observe: Observe): void {
  const { http } = gateway as unknown as { readonly http: BraintreeHttp }
  const send = http.httpRequest.bind(http)
  http.httpRequest = (method, path, ...rest) => {
    const operation = buildOperationName(method, path.replace(/^\/merchants\/[^/]+/, ''), WORDS)
    return observe({ kind: 'request', provider: 'braintree', operation }, () =>
      send(method, path, ...rest),
    )
  }
}
