import type { BillingContext } from '../context.ts'
import type { ProviderName } from '../errors.ts'
import type { StoredWebhook } from '../storage/tables.ts'
import { hasDefaultHandler, runDefaultHandler } from './default-handlers.ts'
import { type HandlerContext, handlerName } from './handlers.ts'

type Handler = (event: unknown, context: HandlerContext) => unknown

/** Event name → the application's `handle<Event>`, else the default, else nothing. */
export async function dispatch(context: BillingContext, stored: StoredWebhook): Promise<void> {
  const { provider, type, eventId } = stored
  const gateway = await context.gateway(provider)
  const event = await gateway.readEvent(stored.payload)
  const runDefault = async () => {
    if (hasDefaultHandler(provider, type)) await runDefaultHandler(context, gateway, event)
  }
  const own = findOwn(context, type)
  if (!own) return runDefault()
  await own.call(context.options.handlers, event, { provider, eventId, runDefault })
}

/** Whether anybody wants to know of such an event. */
export function hasHandler(context: BillingContext, provider: ProviderName, type: string): boolean {
  return hasDefaultHandler(provider, type) || findOwn(context, type) !== null
}

function findOwn({ options }: BillingContext, type: string): Handler | null {
  const own = (options.handlers as Readonly<Record<string, unknown>>)[handlerName(type)]
  return typeof own === 'function' ? (own as Handler) : null
}
