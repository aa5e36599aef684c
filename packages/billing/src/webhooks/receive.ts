import type { BillingContext } from '../context.ts'
import type { RawWebhook } from '../gateways/contract/webhook.ts'
import type { ProviderName } from '../provider-name.ts'
import { hasHandler } from './dispatch.ts'

/** Verified over the raw bytes and stored; what it means is worked out after the answer. */
export async function receiveWebhook(
  context: BillingContext,
  provider: ProviderName,
  webhook: RawWebhook,
): Promise<'due' | 'kept' | 'foreign'> {
  const now = context.options.clock.now()
  const gateway = await context.gateway(provider)
  const event = await gateway.verifyWebhook(webhook, now)
  if (event.foreign) return 'foreign'
  const { id: eventId, type, payload } = event
  const isOurs = hasHandler(context, provider, type)
  const stored = { provider, eventId, type, payload, hasHandler: isOurs }
  const added = await context.webhooks.add(stored, now)
  return added && isOurs ? 'due' : 'kept'
}
