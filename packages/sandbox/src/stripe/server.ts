import { type HttpHandle, serveHttp } from '../http.ts'
import type { ProviderContext } from '../provider-context.ts'
import { StripeApi } from './api.ts'
import { BillingCycle } from './billing-cycle.ts'
import type { DunningOptions, StripeContext } from './context.ts'
import { API_VERSION } from './contract.generated.ts'
import { signStripeDelivery } from './events.ts'
import { StripeHandle } from './handle.ts'
import { servePage } from './pages/pages.ts'
import { openTables } from './tables.ts'

export interface StripeOptions {
  /** The secret key calls must carry. */
  readonly apiKey?: string
  readonly dunning?: Partial<DunningOptions>
  /** Stripe lists events of the last 30 days; older ones are forgotten after this many. */
  readonly keepEventsForDays?: number
}

const DEFAULT_KEY = 'sk_test_tollgate_sandbox'

/** Starts Stripe on loopback. */
export async function startStripe(
  provided: ProviderContext,
  options: StripeOptions = {},
): Promise<StripeHandle> {
  const { tables, queues } = openTables(provided.store)
  const context: StripeContext = {
    clock: provided.clock,
    store: provided.store,
    outbox: provided.outbox,
    trouble: provided.trouble,
    tables,
    queues,
    dunning: { retryAfterDays: [3, 5, 7], afterLastRetry: 'cancel', ...options.dunning },
    keepEventsForDays: options.keepEventsForDays ?? 30,
    baseUrl: '',
  }
  const apiKey = options.apiKey ?? DEFAULT_KEY
  const api = new StripeApi(context, apiKey)
  provided.outbox.signWith('stripe', signStripeDelivery(context))
  provided.clock.join(new BillingCycle(context))
  const server: HttpHandle = await serveHttp({
    port: provided.port,
    handle: (request) =>
      request.path.startsWith('/pages/') ? servePage(request, context) : api.handle(request),
    failed: (error) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
      return api.failed()
    },
  })
  context.baseUrl = server.url
  return new StripeHandle(context, { server, apiKey, apiVersion: API_VERSION })
}
