import type Stripe from 'stripe'
import type { PendingConfirmation } from '../../../values/confirmation.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import { idOf, type StripeContext } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { once } from '../sdk/once.ts'

/** Nobody can do anything about it any more, or need not. */
const DONE: readonly string[] = ['succeeded', 'canceled', 'processing']

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
        return requirePending(made)
      },
      async find(id, customerId) {
        if (!/^seti_\w{1,100}$/.test(id)) return null
        try {
          const found = await stripe.setupIntents.retrieve(id)
          return idOf(found.customer) === customerId ? toPending(found) : null
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

function toPending({
  id,
  client_secret: clientSecret,
  status,
}: Stripe.SetupIntent): PendingConfirmation | null {
  if (clientSecret === null || DONE.includes(status)) return null
  return { kind: 'setup', id, clientSecret }
}

function requirePending(made: Stripe.SetupIntent): PendingConfirmation {
  const pending = toPending(made)
  if (pending) return pending
  throw new Error(`Stripe made a setup that is ${made.status}`)
}
