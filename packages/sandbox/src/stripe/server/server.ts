import { serveHttp } from '../../core/http.ts'
import type { ProviderContext } from '../../core/provider-context.ts'
import { StripeApi } from '../api/api.ts'
import { resumeAdvancing } from '../clocks/move-test-clock.ts'
import { STRIPE_OPERATIONS, STRIPE_V2_OPERATIONS } from '../resources/registry.ts'
import { openDunningSettings, type StripeContext } from '../state/context.ts'
import { isReceiverGone, signStripeDelivery } from '../state/events.ts'
import { openTables } from '../state/tables.ts'
import { scheduleBilling } from '../subscriptions/billing-cycle.ts'
import { ApiVersions, isReleased } from '../versions/versions.ts'
import { API_VERSION } from '../wire/contract.generated.ts'
import { serveBrowser } from './browser/serve-browser.ts'
import { createStripeHandle } from './create-handle.ts'
import type { StripeHandle } from './handle.ts'
import type { StripeOptions } from './options.ts'
import { servePage } from './pages/serve-page.ts'

const DEFAULT_KEY = 'sk_test_tollgate_sandbox'
const DEFAULT_PUBLISHABLE_KEY = 'pk_test_tollgate_sandbox'
const HOUR = 3600
/** Seconds between delivery attempts: exponential back-off for up to three days. */
const RETRY_SCHEDULE = [300, 1800, ...[2, 5, 10, 12, 12, 12, 12].map((hours) => hours * HOUR)]

/** Opens Stripe's tables and registers Stripe's scheduled jobs, without starting a server. */
export function openStripe(provided: ProviderContext, options: StripeOptions = {}): StripeContext {
  const opened = openTables(provided.store)
  const versions = new ApiVersions(opened.tables)
  const context: StripeContext = {
    ...provided,
    ...opened,
    dunning: openDunningSettings(provided.store.table('stripe.dunning'), options.dunning),
    keepEventsForDays: options.keepEventsForDays ?? 30,
    upcomingInvoiceDays: options.upcomingInvoiceDays ?? null,
    apiVersion: requireVersion(options.apiVersion ?? API_VERSION),
    convertEvent: (event, version) => versions.convertEvent(event, version),
    baseUrl: '',
  }
  provided.outbox.addSender('stripe', {
    retrySchedule: RETRY_SCHEDULE,
    sign: signStripeDelivery(context),
    isObsolete: (delivery) => isReceiverGone(context, delivery),
  })
  provided.clock.join(scheduleBilling(context))
  return context
}

export async function serveStripe(
  context: StripeContext,
  options: StripeOptions,
): Promise<StripeHandle> {
  const apiKey = options.apiKey ?? DEFAULT_KEY
  const publishableKey = options.publishableKey ?? DEFAULT_PUBLISHABLE_KEY
  const versions = new ApiVersions(context.tables)
  const api = new StripeApi(context, STRIPE_OPERATIONS, {
    apiKey,
    publishableKey,
    versions,
    operationsV2: STRIPE_V2_OPERATIONS,
  })
  const server = await serveHttp({
    port: options.port ?? 0,
    allowedHosts: context.allowedHosts,
    handle: (request) => {
      if (request.path.startsWith('/pages/')) return servePage(request, context)
      return serveBrowser(request) ?? api.handle(request)
    },
    beforeResponse: () => context.store.flush(),
    tooLarge: () => api.tooLarge(),
    failed: () => api.failed(),
  })
  context.baseUrl = server.url
  resumeAdvancing(context)
  return createStripeHandle(context, server, { apiKey, publishableKey })
}

function requireVersion(version: string): string {
  if (isReleased(version)) return version
  throw new TypeError(`stripe.apiVersion: Stripe has no version ${version}`)
}
