import type Stripe from 'stripe'
import { PaymentMethodNotFound } from '../../core/errors/errors.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import {
  getReferencedId,
  listAll,
  nullIfMissing,
  type StripeContext,
} from '../../providers/stripe/client.ts'
import { describeStripePaymentMethod } from '../../providers/stripe/describe-method.ts'
import { attachPaymentMethod, findAttachedMethod, makeDefaultMethod } from '../customers/stripe.ts'

/** Statuses of subscriptions that are never charged again. */
const OVER: readonly string[] = ['canceled', 'incomplete_expired']

export function createStripePaymentMethods(
  context: StripeContext,
): Pick<GatewayParts, 'paymentMethods'> {
  const { stripe } = context
  return {
    paymentMethods: {
      async list(customerId) {
        const customer = await findCustomer(stripe, customerId)
        if (!customer) return []
        const found = await listAll(stripe.customers.listPaymentMethods(customerId, { limit: 100 }))
        return found.map((method) => describeStripePaymentMethod(method, defaultOf(customer)))
      },
      async isInUse(customerId, id) {
        const customer = await findCustomer(stripe, customerId)
        if (!customer) return false
        const isDefault = defaultOf(customer) === id
        const all = stripe.subscriptions.list({ customer: customerId, limit: 100 })
        for await (const { status, default_payment_method } of all) {
          const own = getReferencedId(default_payment_method)
          if (!OVER.includes(status) && (own === id || (own === null && isDefault))) return true
        }
        return false
      },
      async add(customerId, token) {
        const method = await attachPaymentMethod(context, customerId, token)
        const customer = await findCustomer(stripe, customerId)
        return describeStripePaymentMethod(method, customer && defaultOf(customer))
      },
      async setDefault(customerId, id) {
        if (await findAttachedMethod(context, customerId, id))
          return makeDefaultMethod(context, customerId, id)
        throw new PaymentMethodNotFound('There is no such payment method')
      },
      async remove(customerId, id) {
        // Stripe would detach a payment method of any customer.
        if (!(await findAttachedMethod(context, customerId, id))) return
        try {
          await stripe.paymentMethods.detach(id)
        } catch (error) {
          // It was detached in a race.
          if (await findAttachedMethod(context, customerId, id)) throw error
        }
      },
    },
  }
}

async function findCustomer(stripe: Stripe, id: string): Promise<Stripe.Customer | null> {
  return nullIfMissing(async () => {
    const customer = await stripe.customers.retrieve(id)
    return customer.deleted ? null : customer
  })
}

function defaultOf({ invoice_settings, default_source }: Stripe.Customer): string | null {
  return getReferencedId(invoice_settings.default_payment_method) ?? getReferencedId(default_source)
}
