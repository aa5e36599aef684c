import type { HttpRequest, HttpResponse } from '../../core/http.ts'
import type { Router } from '../../core/router.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import type { CallFate } from '../../core/trouble.ts'
import { settleBalance } from '../payments/balance-transactions.ts'
import { nowOf, type StripeContext } from '../state/context.ts'
import type { EventRequest } from '../state/new-event.ts'
import { inOneStep, UnitOfWork } from '../state/unit-of-work.ts'
import type { Shape } from '../versions/shape.ts'
import type { Spoken, Versions } from '../versions/versions.ts'
import { ACCOUNT_ID } from '../wire/account-id.ts'
import { API_VERSION } from '../wire/contract.generated.ts'
import { invalidRequest, type StripeErrorBody, StripeFault, withDocs } from '../wire/errors.ts'
import type { OldWay } from '../wire/old-ways.ts'
import { refuseUnsupported } from '../wire/unsupported.ts'
import { checkAmounts } from './amounts.ts'
import { CallsV2, inV2, type OperationsV2 } from './calls-v2.ts'
import { expand } from './expand.ts'
import { IdempotencyKeys } from './idempotency.ts'
import {
  type ApiKeys,
  authenticate,
  authenticateSession,
  type Caller,
  isTypedIn,
  maskKey,
} from './keys.ts'
import { totalOf } from './lists.ts'
import type { OperationResponse, Operations } from './operation.ts'
import { checkPageCall, PAGE_CALLS, PAGE_HEADERS, showToPage } from './page-calls.ts'
import { parseForm, readParameters } from './parameters.ts'
import { createRouter, createRoutesByName, idsOf, type Route } from './routes.ts'

/** Handles calls of `/v1/…`, and the few of `/v2/…`, as Stripe does. */
export class StripeApi {
  readonly #context: StripeContext
  readonly #apiKeys: ApiKeys
  readonly #router: Router<Route>
  readonly #routes: ReadonlyMap<string, Route>
  readonly #versions: Versions
  readonly #keys: IdempotencyKeys
  readonly #callsV2: CallsV2

  constructor(
    context: StripeContext,
    operations: Operations,
    options: ApiKeys & { readonly versions: Versions; readonly operationsV2: OperationsV2 },
  ) {
    this.#context = context
    this.#router = createRouter(operations)
    this.#routes = createRoutesByName(operations)
    this.#versions = options.versions
    this.#apiKeys = options
    this.#callsV2 = new CallsV2(options.operationsV2)
    this.#keys = new IdempotencyKeys(context.store)
  }

  handle(request: HttpRequest): HttpResponse {
    if (request.headers.origin === undefined || !this.#isForPages(request)) {
      return this.#inVersion(request)
    }
    if (request.method === 'OPTIONS') return { status: 204, headers: PAGE_HEADERS }
    const response = this.#inVersion(request)
    return { ...response, headers: { ...response.headers, ...PAGE_HEADERS } }
  }

  #isForPages({ method, path, headers }: HttpRequest): boolean {
    const asked = method === 'OPTIONS' ? headers['access-control-request-method'] : method
    const found = this.#router.find(asked ?? '', path)
    return found !== null && Object.hasOwn(PAGE_CALLS, found.target.name)
  }

  #inVersion(request: HttpRequest): HttpResponse {
    const asked = request.headers['stripe-version']
    const spoken = this.#versions.find(asked === undefined ? this.#context.apiVersion : `${asked}`)
    const response = this.#answer(request, spoken)
    if (spoken.version === API_VERSION && spoken.warning === null) return response
    const headers = { ...response.headers, 'stripe-version': spoken.version }
    if (spoken.warning === null) return { ...response, headers }
    return { ...response, headers: { ...headers, 'x-tollgate-sandbox-warning': spoken.warning } }
  }

  #answer(request: HttpRequest, { shape }: Spoken): HttpResponse {
    const { store } = this.#context
    const requestId =
      request.method === 'GET' ? store.nextReadId('req_', 14) : store.nextId('req_', 14)
    const trouble = this.#context.trouble.takeCallTrouble('stripe')
    if (trouble === '429') return this.#refuse(rateLimited(), requestId)
    if (trouble === '500') return this.#refuse(brokenServer(), requestId)
    const response = this.#respond(request, requestId, shape, trouble)
    if (trouble === null || trouble === 'saved-500' || trouble === 'made-500') return response
    return { ...response, fate: trouble }
  }

  #respond(
    request: HttpRequest,
    requestId: string,
    shape: Shape | null,
    trouble: CallFate | null,
  ): HttpResponse {
    const isV2 = request.path.startsWith('/v2/')
    try {
      const caller = this.#callsV2.isStream(request)
        ? this.#authenticateSession(request)
        : authenticate(request, this.#apiKeys)
      const checked = { request, requestId, shape, caller }
      const run = isV2 ? this.#checkV2(checked) : this.#check(checked)
      // A response that comes late is that of a call which is still in progress; one that is lost is not.
      const isLate = typeof trouble === 'object' && trouble !== null
      return this.#onceOnly(checked, isLate, () => {
        if (trouble !== 'made-500' && trouble !== 'saved-500') return run()
        if (trouble === 'made-500') run()
        return { status: 500, body: errorJson(brokenServer().body, requestId) }
      })
    } catch (error) {
      if (error instanceof StripeFault) return this.#refuse(isV2 ? inV2(error) : error, requestId)
      throw error
    }
  }

  /** What a call of `/v1` does, once it is known to be in order. */
  #check(asked: AskedCall): () => Answer {
    const { request, shape, caller } = asked
    const { route, ids } = this.#findRoute(request, shape)
    this.#checkHeaders(request)
    const body = request.method === 'POST' ? request.body.toString('utf8') : ''
    const text = [request.query, body].filter((part) => part !== '').join('&')
    const form = parseForm(text)
    if (caller === 'page') {
      checkPageCall(this.#context.tables, { name: route.name, id: ids[0] ?? '', form })
    }
    shape?.updateParams(route.name, form)
    const gone = shape?.takeGone(route.name, form) ?? {}
    const params = readParameters(route.params, form)
    refuseUnsupported(route.name, params)
    if (request.method === 'POST') checkAmounts(params, ids, this.#context.tables)
    return () => this.#run({ ...asked, route, ids, params, gone })
  }

  /** The same for `/v2`. */
  #checkV2({ request, requestId, caller, shape }: AskedCall): () => Answer {
    const found = caller === 'page' ? null : this.#callsV2.find(request)
    if (!found) throw unrecognized(request)
    const { ids, params, run } = found
    return () => {
      const work = new UnitOfWork(this.#context, {
        request: requestOf(request, requestId),
        about: idsNamed(ids, params),
        oldWays: shape?.oldWays ?? NO_OLD_WAYS,
      })
      try {
        const answer = inOneStep(work, () => run(params as never, { work, ids }))
        return { status: 200, body: JSON.stringify(answer) }
      } catch (error) {
        if (!(error instanceof StripeFault)) throw error
        return { status: error.status, body: errorJson(inV2(error).body, requestId) }
      }
    }
  }

  #authenticateSession(request: HttpRequest): Caller {
    const sessions = this.#context.tables['v2.billing.meter_event_session']
    const endOf = (token: string) => sessions.readBy('token', token)[0]?.$.expires ?? null
    return authenticateSession(request, endOf, nowOf(this.#context))
  }

  #findRoute(request: HttpRequest, shape: Shape | null): { route: Route; ids: readonly string[] } {
    const { method, path } = request
    const old = shape?.operationAt(method, path)
    const route = this.#routes.get(old?.target ?? '')
    if (old && route) return { route, ids: idsOf(old.params) }
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

  #checkHeaders(request: HttpRequest): void {
    const account = request.headers['stripe-account']
    // A key may name the account it belongs to; no other is connected to it.
    if (account !== undefined && account !== ACCOUNT_ID) {
      throw new StripeFault(403, {
        type: 'invalid_request_error',
        ...withDocs('account_invalid'),
        message: `The provided key '${maskKey(this.#apiKeys.apiKey)}' does not have access to account '${String(account)}' (or that account does not exist). Application access may have been revoked.`,
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
    { request, requestId, caller }: AskedCall,
    isLate: boolean,
    run: () => Answer,
  ): HttpResponse {
    const header = request.headers['idempotency-key']
    const key =
      request.method === 'POST' && typeof header === 'string' && header !== '' ? header : null
    if (key === null) return this.#toHttpResponse(run(), requestId, {})
    const nowMs = this.#context.clock.nowMs()
    const { method, path, body } = request
    // What a server was told is not repeated to a page that knows the same key.
    const kept = caller === 'page' ? `page ${key}` : key
    const known = this.#keys.find(kept, method, path, body, nowMs)
    const headers = { 'idempotency-key': key }
    if (known) {
      return this.#toHttpResponse(known, requestId, {
        ...headers,
        'idempotent-replayed': 'true',
        'original-request': known.requestId,
      })
    }
    const response = run()
    this.#keys.remember(kept, { method, path, body, requestId, nowMs }, response)
    const first = { ...headers, 'original-request': requestId }
    const answer = this.#toHttpResponse(response, requestId, first)
    return isLate ? { ...answer, whenDone: this.#keys.hold(kept) } : answer
  }

  #run(checked: CheckedCall): Answer {
    const { route, ids, params, gone, request, requestId, shape, caller } = checked
    const isPage = caller === 'page'
    const work = new UnitOfWork(this.#context, {
      request: requestOf(request, requestId),
      about: idsNamed(ids, params),
      oldWays: shape?.oldWays ?? NO_OLD_WAYS,
    })
    try {
      const body = inOneStep(work, () => {
        const isTyped = isPage && isTypedIn(request)
        const call = { work, ids, gone, path: request.path, isTypedIn: isTyped }
        const rendered: OperationResponse = route.operation(params as never, call)
        const paths = (params.expand ?? []) as string[]
        if (paths.some((path) => path.includes('balance_transaction'))) settleBalance(work)
        const response = ownResponse(rendered, paths, shape)
        const { tables } = this.#context
        expand(response, paths, { tables, shape, total: () => totalOf(rendered) })
        return toJson(isPage ? showToPage(response) : response)
      })
      return { status: 200, body }
    } catch (error) {
      if (!(error instanceof StripeFault)) throw error
      const told = shape ? shape.takeBack(error.body) : error.body
      const body = isPage ? showToPage(told) : told
      return { status: error.status, body: errorJson(body, requestId) }
    }
  }

  #refuse(fault: StripeFault, requestId: string): HttpResponse {
    const headers: Record<string, string> = {}
    if (fault.status === 401) headers['www-authenticate'] = 'Basic realm="Stripe"'
    if (fault.status === 429) headers['stripe-rate-limited-reason'] = 'global-rate'
    return this.#toHttpResponse(
      { status: fault.status, body: errorJson(fault.body, requestId) },
      requestId,
      headers,
    )
  }

  #toHttpResponse(
    { status, body }: Answer,
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

const NO_OLD_WAYS: ReadonlySet<OldWay> = new Set()

interface Answer {
  readonly status: number
  readonly body: string
}

/** A call whose key is right. */
interface AskedCall {
  readonly request: HttpRequest
  readonly requestId: string
  readonly shape: Shape | null
  readonly caller: Caller
}

/** One whose headers and parameters are in order, too. */
interface CheckedCall extends AskedCall {
  readonly route: Route
  readonly ids: readonly string[]
  readonly params: Record<string, unknown>
  readonly gone: Readonly<Record<string, string>>
}

function requestOf({ headers }: HttpRequest, id: string): EventRequest {
  const key = headers['idempotency-key']
  return { id, idempotencyKey: typeof key === 'string' ? key : null }
}

/** The ids that a call is about: its path's, its parameters', and those of reported usage. */
function idsNamed(ids: readonly string[], params: Record<string, unknown>): string[] {
  const named = [...ids, ...Object.values(params), ...Object.values(params.payload ?? {})]
  return named.filter((value) => typeof value === 'string')
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

/** Indented, as Stripe's is. */
function toJson(body: object): string {
  return JSON.stringify(body, null, 2)
}

function errorJson(body: StripeErrorBody, requestId: string): string {
  return toJson({
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
