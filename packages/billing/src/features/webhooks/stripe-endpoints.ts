import type Stripe from 'stripe'
import { listAll, type StripeContext } from '../../providers/stripe/client.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import type { VerifiedEvent } from '../../providers/webhook.ts'
import type { EventQuery, ProviderEndpoint, WebhookEndpoints } from './endpoints-contract.ts'
import {
  createThinDestination,
  isEventDestination,
  listEventDestinations,
} from './stripe-event-destinations.ts'

type NewEndpoint = Stripe.WebhookEndpointCreateParams

export function createStripeEndpoints(context: StripeContext): {
  readonly webhookEndpoints: WebhookEndpoints
} {
  const { stripe } = context
  // Our code reads events in the version of the SDK, whatever the account's default version is.
  const version = String(stripe.getApiField('version'))
  return {
    webhookEndpoints: {
      async list(onUnlisted = () => undefined) {
        const listed = await listAll(stripe.webhookEndpoints.list({ limit: 100 }))
        const found = listed.map((endpoint) => describe(endpoint, version))
        return [...found, ...(await listEventDestinations(context, version, onUnlisted))]
      },
      async create({ url, events, payload }) {
        if (payload === 'thin') return createThinDestination(context, url, events)
        const made = await stripe.webhookEndpoints.create({
          url,
          enabled_events: [...events] as NewEndpoint['enabled_events'],
          api_version: version as NonNullable<NewEndpoint['api_version']>,
          description: 'Tollgate billing',
        })
        if (!made.secret) throw new Error('Stripe returned no secret for the endpoint')
        return { id: made.id, secret: made.secret }
      },
      async remove(id) {
        try {
          await (isEventDestination(id)
            ? stripe.v2.core.eventDestinations.del(id)
            : stripe.webhookEndpoints.del(id))
        } catch (error) {
          if (!isMissingObjectError(error)) throw error
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
  // Stripe does not report the account's default version.
  const hasOtherVersion = apiVersion !== null && apiVersion !== version
  const isEnabled = status === 'enabled'
  return { id, url, events, isEnabled, payload: 'whole', apiVersion, hasOtherVersion }
}

/** Reads events, which Stripe keeps for thirty days. */
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
    if (!isMissingObjectError(error)) throw error
  }
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}

/** Wraps an event that was read from Stripe itself, so it needs no signature. */
function toVerified({ options }: StripeContext, event: Stripe.Event): VerifiedEvent {
  const isLive = /^[rs]k_live_/.test(options.secret)
  return {
    id: event.id,
    type: event.type,
    payload: JSON.stringify(event),
    foreign: event.livemode !== isLive || event.account !== undefined,
  }
}
