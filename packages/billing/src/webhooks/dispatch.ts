import type { BillingContext } from '../context.ts'
import { handlerName, type WebhookHandler } from '../gateways/contract/handlers.ts'
import type { ProviderName } from '../provider-name.ts'
import type { StoredWebhook } from '../storage/tables.ts'
import { runDefaultHandler } from './default-handlers.ts'
import { refuseDropped } from './dropped-usage.ts'

/** Event name → the application's `handle<Event>`, else the default, else nothing. */
export async function dispatch(context: BillingContext, stored: StoredWebhook): Promise<void> {
  const { provider, type, eventId } = stored
  const gateway = await context.gateway(provider)
  const event = await gateway.readEvent(stored.payload)
  const runDefault = async () => {
    if (tellsOfUsage(context, provider, type)) await refuseDropped(context, gateway, event)
    else if (hasDefault(context, provider, type)) await runDefaultHandler(context, gateway, event)
  }
  const own = findOwn(context, provider, type)
  if (!own) return runDefault()
  await own(event, { provider, eventId, runDefault })
}

/** Whether anybody wants to know of such an event. */
export function hasHandler(context: BillingContext, provider: ProviderName, type: string): boolean {
  const isOurs = hasDefault(context, provider, type) || tellsOfUsage(context, provider, type)
  return isOurs || findOwn(context, provider, type) !== null
}

function hasDefault({ options }: BillingContext, provider: ProviderName, type: string): boolean {
  return options.providers.find(provider)?.events.includes(type) ?? false
}

function tellsOfUsage({ options }: BillingContext, provider: ProviderName, type: string): boolean {
  return options.providers.find(provider)?.usageEvents?.includes(type) ?? false
}

function findOwn(
  { options }: BillingContext,
  provider: ProviderName,
  type: string,
): WebhookHandler | null {
  const name = handlerName(type)
  for (const handlers of [options.handlers, options.providers.find(provider)?.handlers]) {
    const own = (handlers as Readonly<Record<string, unknown>> | undefined)?.[name]
    if (typeof own === 'function') return (own as WebhookHandler).bind(handlers)
  }
  return null
}
