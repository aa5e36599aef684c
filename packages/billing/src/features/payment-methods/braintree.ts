import type braintree from 'braintree'
import { PaymentMethodNotFound } from '../../core/errors/errors.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { describeBraintreePaymentMethod } from '../../providers/braintree/describe-method.ts'
import { isNotFound } from '../../providers/braintree/errors.ts'
import { findCustomer } from '../../providers/braintree/find-customer.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import type { ProviderPaymentMethod } from '../../providers/payment-method.ts'
import {
  findDefaultMethod,
  hasCustomerPaymentMethod,
  hasSubscriptionEnded,
  listCustomerMethods,
  listCustomerSubscriptions,
  makeDefaultMethod,
  storeNonce,
} from '../customers/braintree.ts'

export function createBraintreePaymentMethods(
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
        return listCustomerSubscriptions(customer).some(
          (each) => each.paymentMethodToken === id && !hasSubscriptionEnded(each),
        )
      },
      async add(customerId, nonce) {
        const { token } = await storeNonce(context, customerId, nonce, { makeDefault: false })
        const found = listOf(await gateway.customer.find(customerId)).find(({ id }) => id === token)
        if (found) return found
        throw new Error('Braintree does not return the payment method that was just added')
      },
      async setDefault(customerId, id) {
        if (await hasCustomerPaymentMethod(context, customerId, id))
          return makeDefaultMethod(context, customerId, id)
        throw new PaymentMethodNotFound('There is no such payment method')
      },
      async remove(customerId, id) {
        // Braintree would delete a payment method of any customer.
        if (!(await hasCustomerPaymentMethod(context, customerId, id))) return
        try {
          await gateway.paymentMethod.delete(id)
        } catch (error) {
          // It was deleted in a race.
          if (!isNotFound(error)) throw error
        }
      },
    },
  }
}

/** Lists the payment methods, newest first. Braintree groups them by kind. */
function listOf(customer: braintree.Customer): ProviderPaymentMethod[] {
  const usual = findDefaultMethod(customer)
  return [...listCustomerMethods(customer)]
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt))
    .map((method) => describeBraintreePaymentMethod(method, method === usual))
}
