import type { HttpRequest, HttpResponse } from '../../core/http.ts'
import type { Router } from '../../core/router.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import { settleBalance } from '../payments/balance-transactions.ts'
import type { StripeContext } from '../state/context.ts'
import { inOneStep, UnitOfWork } from '../state/unit-of-work.ts'
import type { Shape } from '../versions/shape.ts'
import type { Spoken, Versions } from '../versions/versions.ts'
import { API_VERSION } from '../wire/contract.generated.ts'
import { invalidRequest, type StripeErrorBody, StripeFault, withDocs } from '../wire/errors.ts'
import { refuseUnsupported } from '../wire/unsupported.ts'
import { expand } from './expand.ts'
import { IdempotencyKeys } from './idempotency.ts'
import type { OperationResponse, Operations } from './operation.ts'
import { parseForm, readParameters } from './parameters.ts'
import { createRouter, createRoutesByName, idsOf, type Route } from './routes.ts'

/** Handles calls of `/v1/…` as Stripe does. */
export class StripeApi {
  readonly #context: StripeContext
  readonly #apiKey: string
  readonly #router: Router<Route>
  readonly #routes: ReadonlyMap<string, Route>
  readonly #versions: Versions
  readonly #keys: IdempotencyKeys

  constructor(
    context: StripeContext,
    operations: Operations,
    options: { readonly apiKey: string; readonly versions: Versions },
  ) {
    this.#context = context
    this.#router = createRouter(operations)
    this.#routes = createRoutesByName(operations)
    this.#versions = options.versions
    this.#apiKey = options.apiKey
    this.#keys = new IdempotencyKeys(context.store)
  }

  handle(request: HttpRequest): HttpResponse {
    const asked = request.headers['stripe-version']
    const spoken = this.#versions.find(asked === undefined ? this.#context.apiVersion : `${asked}`)
    const response = this.#answer(request, spoken)
    if (spoken.version === API_VERSION && spoken.warning === null) return response
    const headers = { ...response.headers, 'stripe-version': spoken.version }
    if (spoken.warning === null) return { ...response, headers }
    return { ...response, headers: { ...headers, 'x-tollgate-sandbox-warning': spoken.warning } }
  }

  #answer(request: HttpRequest, { shape }: Spoken): HttpResponse {
    const requestId = this.#context.store.nextId('req_', 14)
    const trouble = this.#context.trouble.takeCallTrouble('stripe')
    if (trouble === '429') return this.#refuse(rateLimited(), requestId)
    if (trouble === '500') return this.#refuse(brokenServer(), requestId)
    if (trouble === 'saved-500' || trouble === 'made-500') {
      return this.#respond(request, requestId, shape, trouble)
    }
    const response = this.#respond(request, requestId, shape)
    return trouble ? { ...response, fate: trouble } : response
  }

  #respond(
    request: HttpRequest,
    requestId: string,
    shape: Shape | null,
    breaks: 'saved-500' | 'made-500' | null = null,
  ): HttpResponse {
    try {
      this.#authenticate(request)
      const { route, ids } = this.#findRoute(request, shape)
      this.#checkHeaders(request)
      const body = request.method === 'POST' ? request.body.toString('utf8') : ''
      const text = [request.query, body].filter((part) => part !== '').join('&')
      const form = parseForm(text)
      shape?.updateParams(route.name, form)
      const params = readParameters(route.params, form)
      refuseUnsupported(route.name, params)
      return this.#onceOnly(request, requestId, () => {
        const run = () => this.#run({ route, ids, params, request, requestId, shape })
        if (breaks === null) return run()
        if (breaks === 'made-500') run()
        return { status: 500, body: errorJson(brokenServer().body, requestId) }
      })
    } catch (error) {
      if (error instanceof StripeFault) return this.#refuse(error, requestId)
      throw error
    }
  }

  #findRoute(request: HttpRequest, shape: Shape | null): { route: Route; ids: readonly string[] } {
    const { method, path } = request
    const old = this.#routes.get(shape?.operationAt(method, path) ?? '')
    if (old) return { route: old, ids: [] }
    const found = this.#router.find(method, path)
    if (!found) throw unrecognized(request)
    return { route: found.target, ids: idsOf(found.params) }
  }

  tooLarge(): HttpResponse {
    const fault = new StripeFault(413, {
      type: 'invalid_request_error',
      message: 'Request body is too large.',
    })
    return this.#refuse(fault, this.#context.store.nextId('req_', 14))
  }

  /** A bug of ours looks like a bug of theirs. */
  failed(): HttpResponse {
    return this.#refuse(brokenServer(), this.#context.store.nextId('req_', 14))
  }

  #authenticate(request: HttpRequest): void {
    const header = request.headers.authorization ?? ''
    let key = /^Bearer (.+)$/i.exec(header)?.[1]
    const basic = /^Basic (.+)$/i.exec(header)?.[1]
    if (basic) key = Buffer.from(basic, 'base64').toString('utf8').split(':')[0]
    if (!key) {
      throw new StripeFault(401, {
        type: 'invalid_request_error',
        message:
          "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY'). See https://stripe.com/docs/api#authentication for details, or we can help at https://support.stripe.com/.",
      })
    }
    if (key === this.#apiKey) return
    throw new StripeFault(401, {
      type: 'invalid_request_error',
      message: `Invalid API Key provided: ${mask(key)}`,
    })
  }

  #checkHeaders(request: HttpRequest): void {
    const account = request.headers['stripe-account']
    if (account !== undefined) {
      throw new StripeFault(403, {
        type: 'invalid_request_error',
        ...withDocs('account_invalid'),
        message: `The provided key '${mask(this.#apiKey)}' does not have access to account '${String(account)}' (or that account does not exist). Application access may have been revoked.`,
      })
    }
    const type = request.headers['content-type'] ?? ''
    if (
      request.method === 'POST' &&
      request.body.length > 0 &&
      !type.startsWith('application/x-www-form-urlencoded')
    ) {
      throw invalidRequest(
        `Invalid request (check that your POST content type is application/x-www-form-urlencoded). If you have any questions, we can help at https://support.stripe.com/.`,
      )
    }
  }

  #onceOnly(
    request: HttpRequest,
    requestId: string,
    run: () => { status: number; body: string },
  ): HttpResponse {
    const header = request.headers['idempotency-key']
    const key =
      request.method === 'POST' && typeof header === 'string' && header !== '' ? header : null
    if (key === null) return this.#toHttpResponse(run(), requestId, {})
    const nowMs = this.#context.clock.nowMs()
    const { method, path, body } = request
    const known = this.#keys.find(key, method, path, body, nowMs)
    const headers = { 'idempotency-key': key }
    if (known) {
      return this.#toHttpResponse(known, requestId, {
        ...headers,
        'idempotent-replayed': 'true',
        'original-request': known.requestId,
      })
    }
    const response = run()
    this.#keys.remember(key, { method, path, body, requestId, nowMs }, response)
    return this.#toHttpResponse(response, requestId, { ...headers, 'original-request': requestId })
  }

  #run(checked: CheckedCall): { status: number; body: string } {
    const { route, ids, params, request, requestId, shape } = checked
    const key = request.headers['idempotency-key']
    const work = new UnitOfWork(this.#context, {
      id: requestId,
      idempotencyKey: typeof key === 'string' ? key : null,
    })
    try {
      const body = inOneStep(work, () => {
        const call = { work, ids, path: request.path }
        const rendered: OperationResponse = route.operation(params as never, call)
        const paths = (params.expand ?? []) as string[]
        if (paths.some((path) => path.includes('balance_transaction'))) settleBalance(work)
        const response = ownResponse(rendered, paths, shape)
        expand(response, paths, { tables: this.#context.tables, shape })
        return JSON.stringify(response)
      })
      return { status: 200, body }
    } catch (error) {
      if (!(error instanceof StripeFault)) throw error
      const body = shape ? shape.takeBack(error.body) : error.body
      return { status: error.status, body: errorJson(body, requestId) }
    }
  }

  #refuse(fault: StripeFault, requestId: string): HttpResponse {
    const headers: Record<string, string> = {}
    if (fault.status === 429) headers['stripe-rate-limited-reason'] = 'global-rate'
    return this.#toHttpResponse(
      { status: fault.status, body: errorJson(fault.body, requestId) },
      requestId,
      headers,
    )
  }

  #toHttpResponse(
    { status, body }: { status: number; body: string },
    requestId: string,
    headers: Record<string, string>,
  ): HttpResponse {
    return {
      status,
      body,
      headers: {
        'content-type': 'application/json',
        'request-id': requestId,
        'stripe-version': API_VERSION,
        ...headers,
      },
    }
  }
}

/** A call whose key, headers and parameters are in order. */
interface CheckedCall {
  readonly route: Route
  readonly ids: readonly string[]
  readonly params: Record<string, unknown>
  readonly request: HttpRequest
  readonly requestId: string
  readonly shape: Shape | null
}

/** Rendered objects share their nested parts with the tables, so who changes them takes a copy. */
function ownResponse(
  rendered: OperationResponse,
  paths: readonly string[],
  shape: Shape | null,
): OperationResponse {
  if (shape) return shape.takeBack(rendered)
  return paths.length > 0 ? copyJson(rendered) : rendered
}

function errorJson(body: StripeErrorBody, requestId: string): string {
  return JSON.stringify({
    error: {
      ...body,
      request_log_url: `https://dashboard.stripe.com/test/logs/${requestId}`,
    },
  })
}

function unrecognized(request: HttpRequest): StripeFault {
  return new StripeFault(404, {
    type: 'invalid_request_error',
    message: `Unrecognized request URL (${request.method}: ${request.path}). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.`,
  })
}

function rateLimited(): StripeFault {
  return new StripeFault(429, {
    type: 'invalid_request_error',
    code: 'rate_limit',
    doc_url: 'https://stripe.com/docs/error-codes/rate-limit',
    message:
      'Request rate limit exceeded. You can learn more about rate limits here https://stripe.com/docs/rate-limits.',
  })
}

function brokenServer(): StripeFault {
  return new StripeFault(500, {
    type: 'api_error',
    message:
      'An unknown error occurred. We have been notified of the problem. If you have any questions, we can help at https://support.stripe.com/.',
  })
}

function mask(key: string): string {
  if (key.length < 12) return '*'.repeat(key.length)
  return `${key.slice(0, 8)}${'*'.repeat(key.length - 12)}${key.slice(-4)}`
}
