import type { BillingContext } from '../context.ts'
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
  const handlers = context.options.handlers as Readonly<Record<string, unknown>>
  const own = handlers[handlerName(type)]
  if (typeof own !== 'function') return runDefault()
  await (own as Handler).call(handlers, event, { provider, eventId, runDefault })
}
