import type Stripe from 'stripe'
import { PaymentMethodNotFound } from '../../../errors.ts'
import type { ProviderMethod } from '../../contract/parts/pages/payment-methods.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import { idOf, type StripeContext } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { attach, findAttached, makeDefault } from './customers.ts'
import { describeMethod } from './describe-method.ts'

/** Those that bill nobody any more. */
const OVER: readonly string[] = ['canceled', 'incomplete_expired']

export function stripePaymentMethods(context: StripeContext): Pick<GatewayParts, 'paymentMethods'> {
  const { stripe } = context
  return {
    paymentMethods: {
      async list(customerId) {
        const customer = await findCustomer(stripe, customerId)
        if (!customer) return []
        const found: ProviderMethod[] = []
        for await (const method of stripe.customers.listPaymentMethods(customerId, {
          limit: 100,
        })) {
          found.push(describeMethod(method, defaultOf(customer)))
        }
        return found
      },
      async isInUse(customerId, id) {
        const customer = await findCustomer(stripe, customerId)
        if (!customer) return false
        const isDefault = defaultOf(customer) === id
        const all = stripe.subscriptions.list({ customer: customerId, limit: 100 })
        for await (const { status, default_payment_method } of all) {
          const own = idOf(default_payment_method)
          if (!OVER.includes(status) && (own === id || (own === null && isDefault))) return true
        }
        return false
      },
      async add(customerId, token) {
        const method = await attach(context, customerId, token)
        const customer = await findCustomer(stripe, customerId)
        return describeMethod(method, customer && defaultOf(customer))
      },
      async setDefault(customerId, id) {
        if (await findAttached(context, customerId, id)) return makeDefault(context, customerId, id)
        throw new PaymentMethodNotFound('There is no such payment method')
      },
      async remove(customerId, id) {
        // Stripe would take away anybody's.
        if (!(await findAttached(context, customerId, id))) return
        try {
          await stripe.paymentMethods.detach(id)
        } catch (error) {
          // Somebody else was faster.
          if (await findAttached(context, customerId, id)) throw error
        }
      },
    },
  }
}

async function findCustomer(stripe: Stripe, id: string): Promise<Stripe.Customer | null> {
  try {
    const customer = await stripe.customers.retrieve(id)
    return customer.deleted ? null : customer
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

function defaultOf({ invoice_settings, default_source }: Stripe.Customer): string | null {
  return idOf(invoice_settings.default_payment_method) ?? idOf(default_source)
}
