import type Stripe from 'stripe'
import type {
  EventQuery,
  ProviderEndpoint,
  WebhookEndpoints,
} from '../contract/parts/webhook-endpoints.ts'
import type { VerifiedEvent } from '../contract/webhook.ts'
import { createThin, isDestination, listDestinations } from './event-destinations.ts'
import type { StripeContext } from './sdk/client.ts'
import { isMissing } from './sdk/errors.ts'

type NewEndpoint = Stripe.WebhookEndpointCreateParams

export function stripeEndpoints(context: StripeContext): {
  readonly webhookEndpoints: WebhookEndpoints
} {
  const { stripe } = context
  // What our code reads events in, whatever the account's own version is.
  const version = String(stripe.getApiField('version'))
  return {
    webhookEndpoints: {
      async list(onUnlisted = () => undefined) {
        const found: ProviderEndpoint[] = []
        for await (const endpoint of stripe.webhookEndpoints.list({ limit: 100 })) {
          found.push(describe(endpoint, version))
        }
        return [...found, ...(await listDestinations(context, version, onUnlisted))]
      },
      async create({ url, events, payload }) {
        if (payload === 'thin') return createThin(context, url, events)
        const made = await stripe.webhookEndpoints.create({
          url,
          enabled_events: [...events] as NewEndpoint['enabled_events'],
          api_version: version as NonNullable<NewEndpoint['api_version']>,
          description: 'Tollgate billing',
        })
        if (!made.secret) throw new Error('Stripe told no secret of the endpoint')
        return { id: made.id, secret: made.secret }
      },
      async remove(id) {
        try {
          await (isDestination(id)
            ? stripe.v2.core.eventDestinations.del(id)
            : stripe.webhookEndpoints.del(id))
        } catch (error) {
          if (!isMissing(error)) throw error
        }
      },
      async eachEvent(query, take) {
        for await (const event of eventsOf(context, query)) await take(toVerified(context, event))
      },
    },
  }
}

function describe(endpoint: Stripe.WebhookEndpoint, version: string): ProviderEndpoint {
  const { id, url, enabled_events: events, status, api_version: apiVersion } = endpoint
  // The account's own version is not told.
  const hasOtherVersion = apiVersion !== null && apiVersion !== version
  const isEnabled = status === 'enabled'
  return { id, url, events, isEnabled, payload: 'whole', apiVersion, hasOtherVersion }
}

/** Stripe keeps them for thirty days. */
async function* eventsOf(
  { stripe }: StripeContext,
  { id, from, to, type }: EventQuery,
): AsyncGenerator<Stripe.Event> {
  if (id === undefined) {
    const created = { ...(from ? { gte: seconds(from) } : {}), ...(to ? { lte: seconds(to) } : {}) }
    yield* stripe.events.list({ created, limit: 100, ...(type === undefined ? {} : { type }) })
    return
  }
  try {
    yield await stripe.events.retrieve(id)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}

/** It came from Stripe itself, so no signature is needed. */
function toVerified({ options }: StripeContext, event: Stripe.Event): VerifiedEvent {
  const isLive = /^[rs]k_live_/.test(options.secret)
  return {
    id: event.id,
    type: event.type,
    payload: JSON.stringify(event),
    foreign: event.livemode !== isLive || event.account !== undefined,
  }
}
