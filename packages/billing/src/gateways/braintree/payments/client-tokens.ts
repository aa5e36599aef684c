import type { GatewayParts } from '../../contract/parts.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { codesOf, requireSuccess } from '../sdk/errors.ts'

/** Somebody has deleted it in the control panel, of which Braintree tells nobody. */
const NO_SUCH_CUSTOMER = '92804'

/** Creates the tokens by which Braintree's scripts work in a browser. */
export function braintreeClientTokens({
  gateway,
}: BraintreeContext): Pick<GatewayParts, 'clientTokens'> {
  return {
    clientTokens: {
      async create({ customerId, makeDefault, verifyCard }) {
        // Without a customer nothing is kept, and Braintree refuses to be told how.
        const request =
          customerId === null ? {} : { customerId, options: { makeDefault, verifyCard } }
        const result = await gateway.clientToken.generate(request)
        const isGone = !result.success && codesOf(result).includes(NO_SUCH_CUSTOMER)
        // Whoever was deleted gives a card as somebody new.
        return requireSuccess(isGone ? await gateway.clientToken.generate({}) : result).clientToken
      },
    },
  }
}
