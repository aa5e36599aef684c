import type braintree from 'braintree'
import { PaymentMethodNotFound } from '../../../errors.ts'
import type { ProviderMethod } from '../../contract/parts/pages/payment-methods.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { isNotFound } from '../sdk/errors.ts'
import { findCustomer } from '../sdk/find-customer.ts'
import {
  defaultOf,
  isMethodOf,
  isOver,
  keep,
  makeDefault,
  methodsOf,
  subscriptionsOf,
} from './customers.ts'
import { describeMethod } from './describe-method.ts'

export function braintreePaymentMethods(
  context: BraintreeContext,
): Pick<GatewayParts, 'paymentMethods'> {
  const { gateway } = context
  return {
    paymentMethods: {
      async list(customerId) {
        const customer = await findCustomer(context, customerId)
        return customer ? listOf(customer) : []
      },
      async isInUse(customerId, id) {
        const customer = await findCustomer(context, customerId)
        if (!customer) return false
        return subscriptionsOf(customer).some(
          (each) => each.paymentMethodToken === id && !isOver(each),
        )
      },
      async add(customerId, nonce) {
        const { token } = await keep(context, customerId, nonce, { makeDefault: false })
        const found = listOf(await gateway.customer.find(customerId)).find(({ id }) => id === token)
        if (found) return found
        throw new Error('Braintree does not have what it has just kept')
      },
      async setDefault(customerId, id) {
        if (await isMethodOf(context, customerId, id)) return makeDefault(context, customerId, id)
        throw new PaymentMethodNotFound('There is no such payment method')
      },
      async remove(customerId, id) {
        // Braintree would take away anybody's.
        if (!(await isMethodOf(context, customerId, id))) return
        try {
          await gateway.paymentMethod.delete(id)
        } catch (error) {
          // Somebody else was faster.
          if (!isNotFound(error)) throw error
        }
      },
    },
  }
}

/** Newest first. Braintree gives them by their kind. */
function listOf(customer: braintree.Customer): ProviderMethod[] {
  const usual = defaultOf(customer)
  return [...methodsOf(customer)]
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt))
    .map((method) => describeMethod(method, method === usual))
}
