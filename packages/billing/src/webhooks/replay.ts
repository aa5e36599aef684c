import type { BillingContext } from '../context.ts'
import { InvalidArgument, Unsupported } from '../errors.ts'
import type { EventQuery } from '../gateways/contract/parts/webhook-endpoints.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { VerifiedEvent } from '../gateways/contract/webhook.ts'
import type { ProviderName } from '../provider-name.ts'
import { requireDate } from '../values/arguments.ts'
import { hasHandler } from './dispatch.ts'

/** Which events are handled again: one, or those of a time. */
export interface ReplayOptions extends EventQuery {
  /** Whose. Default: everybody's. */
  readonly provider?: ProviderName
  /**
   * `inbox`: events that arrived. `provider`: those that the provider still has (Stripe: thirty days), also those that
   * never arrived; otherwise Unsupported. Default `inbox`.
   */
  readonly source?: 'inbox' | 'provider'
}

/** Makes events due again; says how many. Handling one twice comes to the same, because each reads again what it is about. */
export async function replay(context: BillingContext, options: ReplayOptions): Promise<number> {
  const { id, from, to, type, provider, source = 'inbox' } = options
  if (id === undefined && from === undefined) {
    throw new InvalidArgument('Which events? Give an id, or from when on')
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
    throw new Unsupported(`${name} keeps no events`, { provider: name, capability })
  }
  let count = 0
  for (const { name } of asked) {
    const endpoints = requirePart(await context.gateway(name), 'webhookEndpoints')
    await endpoints.eachEvent(query, async (event) => {
      if (await take(context, name, event)) count += 1
    })
  }
  return count
}

/** Into the inbox, or out of what is done there. Only what somebody handles. */
async function take(
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
