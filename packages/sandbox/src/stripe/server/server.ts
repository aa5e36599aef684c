import { type HttpHandle, serveHttp } from '../../core/http.ts'
import type { ProviderContext } from '../../core/provider-context.ts'
import { StripeApi } from '../api/api.ts'
import type { StripeContext } from '../state/context.ts'
import { signStripeDelivery } from '../state/events.ts'
import { openTables } from '../state/tables.ts'
import { billingCycle } from '../subscriptions/billing-cycle.ts'
import { API_VERSION } from '../wire/contract.generated.ts'
import type { StripeHandle } from './handle.ts'
import type { StripeOptions } from './options.ts'
import { servePage } from './pages.ts'
import { StripeDesk } from './stripe-desk.ts'

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
    upcomingInvoiceDays: options.upcomingInvoiceDays ?? null,
    baseUrl: '',
  }
  const apiKey = options.apiKey ?? DEFAULT_KEY
  const api = new StripeApi(context, apiKey)
  provided.outbox.signWith('stripe', signStripeDelivery(context))
  provided.clock.join(billingCycle(context, provided.failures))
  const server: HttpHandle = await serveHttp({
    port: provided.port,
    handle: (request) =>
      request.path.startsWith('/pages/') ? servePage(request, context) : api.handle(request),
    tooLarge: () => api.tooLarge(),
    failed: (error) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
      return api.failed()
    },
  })
  context.baseUrl = server.url
  return new StripeDesk(context, { server, apiKey, apiVersion: API_VERSION })
}
