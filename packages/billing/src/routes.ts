import { isUnavailable } from '@tollgate/database'
import type { BillingContext } from './context.ts'
import {
  BillingError,
  InvoiceNotFound,
  MethodNotAllowed,
  NotFound,
  Unauthenticated,
} from './errors.ts'
import { type HttpRequest, type Reply, withoutBody } from './http/exchange.ts'
import { invoiceReply } from './invoices/download.ts'
import type { ProviderName } from './provider-name.ts'
import { BillableUser } from './users/billable-user.ts'
import type { Inbox } from './webhooks/inbox.ts'

/** The largest events have some ten kilobytes. */
const LARGEST_WEBHOOK = 1024 * 1024

/** Ids of both providers. Anything else is no invoice, and no call is made for it. */
const INVOICE_ID = /^[\w-]{1,64}$/

export interface Routes {
  /** Paths with `{invoice}` where the id goes. */
  readonly paths: readonly string[]
  handles(path: string): boolean
  handle(request: HttpRequest): Promise<Reply>
}

/**
 * Webhooks carry no cookie and are proven by their signature, so that no CSRF check belongs in front
 * of them; the invoice route only reads.
 */
export function createRoutes(context: BillingContext, inbox: Inbox): Routes {
  const { options } = context
  const { paths } = options
  const invoicePrefix = paths.invoice.slice(0, -'{invoice}'.length)

  const isInvoice = (path: string) =>
    path.startsWith(invoicePrefix) && INVOICE_ID.test(path.slice(invoicePrefix.length))

  async function answer(request: HttpRequest): Promise<Reply> {
    const provider = paths.webhooks.get(request.path)
    if (provider) return webhook(request, provider)
    if (isInvoice(request.path)) return invoice(request)
    throw new NotFound('There is nothing at this address')
  }

  async function webhook(request: HttpRequest, provider: ProviderName): Promise<Reply> {
    if (isRead(request)) {
      const gateway = await context.gateway(provider)
      const answer = gateway.answerChallenge?.(new URLSearchParams(request.query)) ?? null
      if (answer !== null)
        return { status: 200, headers: { 'content-type': 'text/plain' }, body: answer }
    }
    if (request.method !== 'POST') throw new MethodNotAllowed('Webhooks are sent by POST')
    const body = await request.text(LARGEST_WEBHOOK)
    await inbox.receive(provider, { body, header: request.header })
    return json(200, { received: true })
  }

  async function invoice(request: HttpRequest): Promise<Reply> {
    if (!isRead(request)) throw new MethodNotAllowed('Invoices are read by GET')
    if (!options.authenticate || !options.invoice) {
      throw new NotFound('There is nothing at this address')
    }
    const userId = await options.authenticate(request.toRequest())
    if (userId === null) throw new Unauthenticated('Sign in first')
    const record = await context.users.find(userId)
    const id = request.path.slice(invoicePrefix.length)
    const found = record ? await new BillableUser(context, record).findInvoice(id) : null
    if (!found) throw new InvoiceNotFound('There is no such invoice')
    return invoiceReply(found, options.invoice)
  }

  return {
    paths: [...paths.webhooks.keys(), paths.invoice],
    handles: (path) => paths.webhooks.has(path) || isInvoice(path),
    async handle(request) {
      const reply = await answer(request).catch((error) => failure(context, error))
      return request.method === 'HEAD' ? withoutBody(reply) : reply
    },
  }
}

function isRead({ method }: HttpRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Anything but a BillingError is a bug or an outage: it is logged, and strangers learn nothing of it. */
function failure({ options }: BillingContext, error: unknown): Reply {
  if (error instanceof BillingError && error.status < 500) {
    return json(error.status, { error: error.code, message: error.message })
  }
  options.logger.error('A billing route failed', error)
  if (isUnavailable(error) || (error instanceof BillingError && error.status === 503)) {
    return json(503, { error: 'unavailable' }, { 'retry-after': '1' })
  }
  return json(500, { error: 'server_error' })
}

function json(status: number, body: object, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(body),
  }
}
