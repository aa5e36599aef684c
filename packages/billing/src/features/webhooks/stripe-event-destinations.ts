import type Stripe from 'stripe'
import type { StripeContext } from '../../providers/stripe/client.ts'
import type { ProviderEndpoint } from './endpoints-contract.ts'

/**
 * Whether an id belongs to an event destination: the newer kind of webhook endpoint in Stripe's
 * `/v2` API, which is the only kind that receives thin events.
 */

export function isEventDestination(id: string): boolean {
  return id.startsWith('ed_')
}

/**
 * Lists Stripe's event destinations that have a URL. Other destinations, such as queues of cloud
 * providers, are left out.
 */
export async function listEventDestinations(
  { stripe }: StripeContext,
  version: string,
  onUnlisted: (why: string) => void,
): Promise<ProviderEndpoint[]> {
  const found: ProviderEndpoint[] = []
  const wanted = { include: ['webhook_endpoint.url' as const] }
  try {
    for await (const destination of stripe.v2.core.eventDestinations.list(wanted)) {
      const url = destination.webhook_endpoint?.url
      if (url) found.push(describe(destination, url, version))
    }
  } catch (error) {
    const status = statusOf(error)
    if (status === null || !NO_ACCESS.includes(status)) throw error
    onUnlisted(
      `Stripe answers ${status} to /v2/core/event_destinations, so event destinations cannot be listed: allow the key and the proxy to read them.`,
    )
  }
  return found
}

/** Response statuses for a restricted key, or from a proxy that allows only `/v1`. */
const NO_ACCESS: readonly number[] = [403, 404]

function statusOf(error: unknown): number | null {
  const { statusCode } = error as { readonly statusCode?: unknown }
  return typeof statusCode === 'number' ? statusCode : null
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

export async function createThinDestination(
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
  if (!secret) {
    // Without the secret, its events could not be verified.
    await stripe.v2.core.eventDestinations.del(made.id)
    throw new Error(
      `Stripe returned no secret for the event destination ${made.id}, so it was removed`,
    )
  }
  return { id: made.id, secret }
}
