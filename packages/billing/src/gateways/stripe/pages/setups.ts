import type Stripe from 'stripe'
import type { ProviderSetup } from '../../contract/parts/pages/setups.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import { idOf, type StripeContext } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { once } from '../sdk/once.ts'

const STATUSES: Readonly<Record<string, ProviderSetup['status']>> = {
  requires_payment_method: 'needs_method',
  requires_confirmation: 'needs_method',
  requires_action: 'needs_action',
  processing: 'processing',
  succeeded: 'succeeded',
  canceled: 'cancelled',
}

/** Cards that Stripe's script in the browser keeps, without a payment. */
export function stripeSetups(context: StripeContext): Pick<GatewayParts, 'setups'> {
  const { stripe } = context
  return {
    setups: {
      async create({ customerId: customer, usage, operation }) {
        const params = { customer, usage, metadata: { operation } }
        const made = await once(
          `${operation}:setup`,
          (request) => stripe.setupIntents.create(params, request),
          () => findByOperation(context, customer, operation),
        )
        const { confirmation, status } = describeSetup(made)
        if (confirmation) return confirmation
        throw new Error(`Stripe made a setup that is ${status}`)
      },
      async find(id, customerId) {
        if (!/^seti_\w{1,100}$/.test(id)) return null
        try {
          const found = await stripe.setupIntents.retrieve(id)
          return idOf(found.customer) === customerId ? describeSetup(found) : null
        } catch (error) {
          if (isMissing(error)) return null
          throw error
        }
      },
    },
  }
}

/** It was made a moment ago, so it is among the newest. */
async function findByOperation(
  { stripe }: StripeContext,
  customer: string,
  operation: string,
): Promise<Stripe.SetupIntent | null> {
  const { data } = await stripe.setupIntents.list({ customer, limit: 100 })
  return data.find(({ metadata }) => metadata?.operation === operation) ?? null
}

function describeSetup(setup: Stripe.SetupIntent): ProviderSetup {
  const { id, client_secret: clientSecret } = setup
  // A word that is not known yet asks nobody for anything.
  const status = STATUSES[setup.status] ?? 'processing'
  const isWaiting = status === 'needs_method' || status === 'needs_action'
  return {
    id,
    status,
    confirmation: isWaiting && clientSecret !== null ? { kind: 'setup', id, clientSecret } : null,
    paymentMethod: status === 'succeeded' ? idOf(setup.payment_method) : null,
  }
}
