import type Stripe from 'stripe'
import type { ProviderEndpoint } from '../contract/parts/webhook-endpoints.ts'
import type { StripeContext } from './sdk/client.ts'

/** Stripe's newer kind of address for events, under `/v2`. Thin events go nowhere else. */

export function isDestination(id: string): boolean {
  return id.startsWith('ed_')
}

/** Those at web addresses; queues of other clouds are not ours. */
export async function listDestinations(
  { stripe }: StripeContext,
  version: string,
): Promise<ProviderEndpoint[]> {
  const found: ProviderEndpoint[] = []
  const wanted = { include: ['webhook_endpoint.url' as const] }
  for await (const destination of stripe.v2.core.eventDestinations.list(wanted)) {
    const url = destination.webhook_endpoint?.url
    if (url) found.push(describe(destination, url, version))
  }
  return found
}

function describe(
  destination: Stripe.V2.Core.EventDestination,
  url: string,
  version: string,
): ProviderEndpoint {
  const { id, enabled_events: events, event_payload: payload, status } = destination
  const apiVersion = destination.snapshot_api_version ?? null
  return {
    id,
    url,
    events,
    isEnabled: status === 'enabled',
    payload: payload === 'thin' ? 'thin' : 'whole',
    apiVersion,
    hasOtherVersion: apiVersion !== null && apiVersion !== version,
  }
}

export async function createThin(
  { stripe }: StripeContext,
  url: string,
  events: readonly string[],
): Promise<{ id: string; secret: string }> {
  const made = await stripe.v2.core.eventDestinations.create({
    name: 'Tollgate billing',
    description: 'Usage that is not billed',
    type: 'webhook_endpoint',
    event_payload: 'thin',
    enabled_events: [...events],
    webhook_endpoint: { url },
    include: ['webhook_endpoint.signing_secret'],
  })
  const secret = made.webhook_endpoint?.signing_secret
  if (!secret) throw new Error('Stripe told no secret of the event destination')
  return { id: made.id, secret }
}
