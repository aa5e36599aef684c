import type Stripe from 'stripe'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import {
  getReferencedId,
  nullIfMissing,
  type StripeContext,
} from '../../providers/stripe/client.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import type { ProviderCardSetup } from './contract.ts'

const STATUSES: Readonly<Record<string, ProviderCardSetup['status']>> = {
  requires_payment_method: 'needs_method',
  requires_confirmation: 'needs_method',
  requires_action: 'needs_action',
  processing: 'processing',
  succeeded: 'succeeded',
  canceled: 'cancelled',
}

/** Implements card setups for Stripe by setup intents, which store a card without a payment. */
export function createStripeSetups(context: StripeContext): Pick<GatewayParts, 'setups'> {
  const { stripe } = context
  return {
    setups: {
      async create({ customerId: customer, usage, operation }) {
        const params = { customer, usage, metadata: { operation } }
        const made = await createIdempotently(
          `${operation}:setup`,
          (request) => stripe.setupIntents.create(params, request),
          () => findByOperation(context, customer, operation),
        )
        const { confirmation, status } = describeSetup(made)
        if (confirmation) return confirmation
        throw new Error(
          `Stripe created a setup intent that needs no confirmation: its status is ${status}`,
        )
      },
      async find(id, customerId) {
        if (!/^seti_\w{1,100}$/.test(id)) return null
        return nullIfMissing(async () => {
          const found = await stripe.setupIntents.retrieve(id)
          return getReferencedId(found.customer) === customerId ? describeSetup(found) : null
        })
      },
    },
  }
}

/**
 * Finds the setup intent of an operation. Searches only the newest 100, because the setup intent
 * was created moments ago.
 */
async function findByOperation(
  { stripe }: StripeContext,
  customer: string,
  operation: string,
): Promise<Stripe.SetupIntent | null> {
  const { data } = await stripe.setupIntents.list({ customer, limit: 100 })
  return data.find(({ metadata }) => metadata?.operation === operation) ?? null
}

function describeSetup(setup: Stripe.SetupIntent): ProviderCardSetup {
  const { id, client_secret: clientSecret } = setup
  // A status that Stripe adds later must not ask the customer to act.
  const status = STATUSES[setup.status] ?? 'processing'
  const isWaiting = status === 'needs_method' || status === 'needs_action'
  return {
    id,
    status,
    confirmation: isWaiting && clientSecret !== null ? { kind: 'setup', id, clientSecret } : null,
    paymentMethod: status === 'succeeded' ? getReferencedId(setup.payment_method) : null,
  }
}
