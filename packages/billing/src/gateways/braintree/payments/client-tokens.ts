import type { GatewayParts } from '../../contract/parts.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { requireSuccess } from '../sdk/errors.ts'

/** For Drop-in and hosted fields in the browser. */
export function braintreeClientTokens({
  gateway,
}: BraintreeContext): Pick<GatewayParts, 'clientTokens'> {
  return {
    clientTokens: {
      async create({ customerId, makeDefault, verifyCard }) {
        // Without a customer nothing is kept, and Braintree refuses to be told how.
        const request =
          customerId === null ? {} : { customerId, options: { makeDefault, verifyCard } }
        return requireSuccess(await gateway.clientToken.generate(request)).clientToken
      },
    },
  }
}
