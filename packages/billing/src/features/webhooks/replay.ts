import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument, Unsupported } from '../../core/errors/errors.ts'
import { requireDate } from '../../core/values/arguments.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { VerifiedEvent } from '../../providers/webhook.ts'
import { hasHandler } from './dispatch.ts'
import type { EventQuery } from './endpoints-contract.ts'

/** Selects the events to handle again: one by its id, or all in a period of time. */
export interface ReplayOptions extends EventQuery {
  /** The provider of the events. Default: all providers. */
  readonly provider?: ProviderName
  /**
   * Source of the events. `inbox`: events that were received and stored. `provider`: events that
   * the provider still keeps (Stripe: for thirty days), including events that were never received.
   * @default 'inbox'
   */
  readonly source?: 'inbox' | 'provider'
}

/**
 * Schedules events to be handled again, and returns their number. Handling an event twice has no
 * further effect, because the handlers read the present state from the provider.
 */
export async function replayEvents(
  context: BillingContext,
  options: ReplayOptions,
): Promise<number> {
  const { id, from, to, type, provider, source = 'inbox' } = options
  if (id === undefined && from === undefined) {
    throw new InvalidArgument('Select the events: pass an id, or a start date as `from`')
  }
  if (from) requireDate('from', from)
  if (to) requireDate('to', to)
  if (source === 'provider') return replayFromProviders(context, options)
  const which = {
    ...(id === undefined ? {} : { eventId: id }),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(type === undefined ? {} : { type }),
    ...(provider === undefined ? {} : { provider }),
  }
  return context.webhooks.replay(which, context.options.clock.now())
}

async function replayFromProviders(
  context: BillingContext,
  { provider, source: _source, ...query }: ReplayOptions,
): Promise<number> {
  const asked = context.options.providers.all.filter(
    ({ name, can }) =>
      can.includes('webhookEndpoints') && (provider === undefined || name === provider),
  )
  if (asked.length === 0) {
    const { defaultProvider } = context.options
    const name = provider ?? defaultProvider
    const capability = 'webhookEndpoints'
    throw new Unsupported(`${name} does not keep past events`, { provider: name, capability })
  }
  let count = 0
  for (const { name } of asked) {
    const endpoints = requireGatewayPart(await context.gateway(name), 'webhookEndpoints')
    await endpoints.eachEvent(query, async (event) => {
      if (await enqueue(context, name, event)) count += 1
    })
  }
  return count
}

/** Adds an event to the inbox, or makes it due again. Ignores events without a handler. */
async function enqueue(
  context: BillingContext,
  provider: ProviderName,
  { id: eventId, type, payload, foreign }: VerifiedEvent,
): Promise<boolean> {
  if (foreign || !hasHandler(context, provider, type)) return false
  const now = context.options.clock.now()
  const event = { provider, eventId, type, payload, hasHandler: true }
  if (await context.webhooks.add(event, now)) return true
  return (await context.webhooks.replay({ provider, eventId }, now)) > 0
}
