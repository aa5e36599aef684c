import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { listErrorCodes, requireSuccess } from '../../providers/braintree/errors.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'

/**
 * Braintree's error code for a customer deleted in the control panel, for which it sends no
 * webhook.
 */
const NO_SUCH_CUSTOMER = '92804'

/** Implements client tokens, which Braintree's browser scripts need. */
export function createBraintreeClientTokens({
  gateway,
}: BraintreeContext): Pick<GatewayParts, 'clientTokens'> {
  return {
    clientTokens: {
      async create({ customerId, makeDefault, verifyCard }) {
        // Without a customer Braintree refuses these options.
        const request =
          customerId === null ? {} : { customerId, options: { makeDefault, verifyCard } }
        const result = await gateway.clientToken.generate(request)
        const isGone = !result.success && listErrorCodes(result).includes(NO_SUCH_CUSTOMER)
        // A deleted customer gets the form of a new one.
        return requireSuccess(isGone ? await gateway.clientToken.generate({}) : result).clientToken
      },
    },
  }
}
