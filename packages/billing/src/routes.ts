import { isUnavailable } from '@tollgate/database'
import {
  createRouter,
  type HttpRequest,
  type HttpResponse,
  type HttpRoutes,
  isHttpError,
  MethodNotAllowed,
  type Route,
  type RouteMatch,
  requireRoute,
  wantsHtml,
  withoutBody,
} from '@tollgate/http'
import { BillableUser } from './billable-user.ts'
import type { BillingContext } from './core/context.ts'
import { isBillingError } from './core/errors/error-codes.ts'
import {
  CheckoutNotFound,
  InvoiceNotFound,
  NotFound,
  Unauthenticated,
} from './core/errors/errors.ts'
import { requireApplicationUrl } from './core/own-url.ts'
import type { BilledOwner } from './core/storage/tables.ts'
import { userOwner } from './core/values/owner.ts'
import type { ProviderName } from './core/values/provider-name.ts'
import { completeCheckout } from './features/checkout/complete-checkout.ts'
import { createBrowserErrorResponse } from './features/checkout/failed-page.ts'
import { findOwnerLocale } from './features/customers/locale-of.ts'
import { respondWithInvoice } from './features/invoices/download.ts'
import type { RunningWebhookInbox } from './features/webhooks/inbox.ts'

/** The largest real events are about ten kilobytes. */
const MAX_WEBHOOK_BYTES = 1024 * 1024

export interface BillingRoutes extends HttpRoutes {
  handles(path: string): boolean
}

interface BillingRoute extends Route {
  respond(request: HttpRequest, id: string): Promise<HttpResponse>
  /**
   * Only for routes that people open in a browser, which shows them a page instead of JSON. Returns
   * the path to return to later, or `null` if the request contains an invalid id.
   */
  openedAt?(request: HttpRequest, id: string): string | null
}

/**
 * Creates the HTTP routes: webhooks, the invoice download and the return from hosted pages.
 * Webhooks are authenticated by their signature and carry no cookie, so no CSRF check must precede
 * them. The other routes only read, or re-read the provider's state. Every route waits for `ready`.
 */
export function createRoutes(
  context: BillingContext,
  inbox: RunningWebhookInbox,
  ready: () => Promise<void>,
): BillingRoutes {
  const { paths } = context.options
  const router = createRouter<BillingRoute>([
    ...[...paths.webhooks].flatMap(([path, name]) =>
      createWebhookRoutes(path, name, context, inbox),
    ),
    {
      method: 'GET',
      path: paths.invoice,
      respond: (request, id) => downloadInvoice(request, id, context),
      openedAt: (_request, id) => paths.invoice.replace('{invoice}', id),
    },
    ...createReturnRoutes(context),
  ])

  async function respond(
    match: RouteMatch<BillingRoute>,
    request: HttpRequest,
  ): Promise<HttpResponse> {
    let response: HttpResponse
    let route: BillingRoute | null = null
    try {
      route = requireRoute(match, request.method)
      await ready()
      response = await route.respond(request, match.id)
    } catch (error) {
      const failure = toErrorResponse(context, error)
      response =
        route?.openedAt && wantsHtml(request)
          ? createBrowserErrorResponse(context, {
              status: failure.status,
              headers: failure.headers,
              reason: failure.body.error,
              path: route.openedAt(request, match.id),
            })
          : createJsonResponse(failure.status, failure.body, failure.headers)
    }
    return request.method === 'HEAD' ? withoutBody(response) : response
  }

  return {
    paths: router.paths,
    handles: (path) => router.match(path) !== null,
    handle(request) {
      const match = router.match(request.path)
      return match && respond(match, request)
    },
  }
}

function createWebhookRoutes(
  path: string,
  name: ProviderName,
  context: BillingContext,
  inbox: RunningWebhookInbox,
): BillingRoute[] {
  const receive: BillingRoute = {
    method: 'POST',
    path,
    async respond(request) {
      const body = await request.rawText(MAX_WEBHOOK_BYTES)
      const header = (field: string) => request.header(field)
      await inbox.receive(name, { body, header })
      return createJsonResponse(200, { received: true })
    },
  }
  if (!context.options.providers.find(name)?.challenges) return [receive]
  const challenge: BillingRoute = {
    method: 'GET',
    path,
    async respond({ query }) {
      const gateway = await context.gateway(name)
      const body = gateway.answerChallenge?.(new URLSearchParams(query)) ?? null
      if (body === null) throw new MethodNotAllowed(['POST'])
      return { status: 200, headers: { 'content-type': 'text/plain' }, body }
    },
  }
  return [receive, challenge]
}

/**
 * Without `authenticate` the owner of a returning browser is unknown; customers then go to the
 * application's own page directly.
 */
function createReturnRoutes(context: BillingContext): BillingRoute[] {
  const { authenticate, paths, providers } = context.options
  if (!authenticate || !providers.all.some(({ can }) => can.includes('checkout'))) return []
  const respond = (request: HttpRequest) => returnFromCheckout(request, context)
  const openedAt = (request: HttpRequest) => {
    const id = sessionIdOf(request) ?? ''
    return /^\w{1,255}$/.test(id) ? `${paths.checkoutReturn}?session_id=${id}` : null
  }
  return [{ method: 'GET', path: paths.checkoutReturn, respond, openedAt, answersHead: false }]
}

async function returnFromCheckout(
  request: HttpRequest,
  context: BillingContext,
): Promise<HttpResponse> {
  const billed = await requireSignedInOwner(request, context)
  if (!billed?.provider) throw new CheckoutNotFound('There is no such checkout')
  const returning = {
    owner: billed.owner,
    provider: billed.provider,
    customerId: billed.providerId,
  }
  const { status, url, successPath } = await completeCheckout(
    context,
    returning,
    sessionIdOf(request),
  )
  if (status === 'expired') throw new CheckoutNotFound('The checkout has expired')
  // The hosted page is not completed yet, so send the customer back to it.
  const location = url ?? requireApplicationUrl(context, 'successPath', successPath)
  return { status: 303, headers: { location, 'cache-control': 'no-store' }, body: null }
}

function sessionIdOf({ query }: HttpRequest): string | null {
  return new URLSearchParams(query).get('session_id')
}

/**
 * Identifies the signed-in owner. `null` if the application has deleted its row.
 * @throws Unauthenticated if no owner is signed in.
 */
async function requireSignedInOwner(
  request: HttpRequest,
  { options, owners }: BillingContext,
): Promise<BilledOwner | null> {
  const { authenticate, baseUrl } = options
  if (!authenticate) throw new NotFound('There is nothing at this address')
  const asking = await authenticate(request.toRequest(baseUrl))
  if (asking === null) throw new Unauthenticated('Sign in first')
  return owners.find(typeof asking === 'object' ? asking : userOwner(asking))
}

async function downloadInvoice(
  request: HttpRequest,
  id: string,
  context: BillingContext,
): Promise<HttpResponse> {
  const { invoice } = context.options
  if (!invoice) throw new NotFound('There is nothing at this address')
  const record = await requireSignedInOwner(request, context)
  const found = record && (await new BillableUser(context, record).findInvoice(id))
  if (!found) throw new InvoiceNotFound('There is no such invoice')
  return respondWithInvoice(found, { ...invoice, locale: await findOwnerLocale(context, record) })
}

interface FailedResponse {
  readonly status: number
  readonly body: { readonly error: string; readonly message?: string }
  readonly headers?: Record<string, string>
}

/**
 * Converts an error to a response. Errors of unknown kinds are bugs or outages: they are logged,
 * and the response contains no details.
 */
function toErrorResponse({ options }: BillingContext, error: unknown): FailedResponse {
  if (isHttpError(error)) {
    const { status, code, message } = error
    return { status, body: { error: code, message }, headers: error.headers() }
  }
  if (isBillingError(error) && error.status < 500) {
    const { status, code, message } = error
    return { status, body: { error: code, message } }
  }
  options.logger.error('A billing route failed', error)
  if (isUnavailable(error) || (isBillingError(error) && error.status === 503)) {
    return { status: 503, body: { error: 'unavailable' }, headers: { 'retry-after': '1' } }
  }
  return { status: 500, body: { error: 'server_error' } }
}

function createJsonResponse(
  status: number,
  body: object,
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(body),
  }
}
