import type { HttpRequest, HttpResponse } from '../../core/http.ts'
import type { PathRouter } from '../../core/router.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import type { AppliedCallFault } from '../../core/trouble.ts'
import { markAvailableFunds } from '../payments/balance-transactions.ts'
import { readClockTime, type StripeContext } from '../state/context.ts'
import { runAtomically, UnitOfWork } from '../state/unit-of-work.ts'
import type { VersionConverter } from '../versions/shape.ts'
import type { ApiVersions, ResolvedVersion } from '../versions/versions.ts'
import { ACCOUNT_ID } from '../wire/account-id.ts'
import { API_VERSION } from '../wire/contract.generated.ts'
import {
  createFaultWithStatus,
  createInvalidRequestFault,
  type StripeErrorBody,
  StripeFault,
} from '../wire/errors.ts'
import type { LegacyFeature } from '../wire/legacy-features.ts'
import { refuseUnsupported } from '../wire/unsupported.ts'
import { checkAmounts } from './amounts.ts'
import { expandObjects } from './expand.ts'
import { IdempotencyKeys } from './idempotency.ts'
import {
  type ApiCaller,
  type ApiKeys,
  authenticateCall,
  authenticateSession,
  isFromCardField,
  maskKey,
} from './keys.ts'
import { countAllRows } from './lists.ts'
import type { OperationResponse, StripeOperations } from './operation.ts'
import { checkPageCall, filterForPage, PAGE_CALLS, PAGE_HEADERS } from './page-calls.ts'
import { parseForm, readParameters } from './parameters.ts'
import { createRouter, createRoutesByName, listPathIds, type StripeRoute } from './routes.ts'
import { type StripeV2Operations, StripeV2Router, toV2Fault } from './v2.ts'

/**
 * Stripe's API: answers HTTP requests to `/v1` and to the supported part of `/v2`, with Stripe's
 * errors, API versions and idempotency keys.
 */
export class StripeApi {
  readonly #context: StripeContext
  readonly #apiKeys: ApiKeys
  readonly #router: PathRouter<StripeRoute>
  readonly #routes: ReadonlyMap<string, StripeRoute>
  readonly #versions: ApiVersions
  readonly #keys: IdempotencyKeys
  readonly #callsV2: StripeV2Router

  constructor(
    context: StripeContext,
    operations: StripeOperations,
    options: ApiKeys & {
      readonly versions: ApiVersions
      readonly operationsV2: StripeV2Operations
    },
  ) {
    this.#context = context
    this.#router = createRouter(operations)
    this.#routes = createRoutesByName(operations)
    this.#versions = options.versions
    this.#apiKeys = options
    this.#callsV2 = new StripeV2Router(options.operationsV2)
    this.#keys = new IdempotencyKeys(context.store)
  }

  handle(request: HttpRequest): HttpResponse {
    if (request.headers.origin === undefined || !this.#isForPages(request)) {
      return this.#answerInVersion(request)
    }
    if (request.method === 'OPTIONS') return { status: 204, headers: PAGE_HEADERS }
    const response = this.#answerInVersion(request)
    return { ...response, headers: { ...response.headers, ...PAGE_HEADERS } }
  }

  #isForPages({ method, path, headers }: HttpRequest): boolean {
    const asked = method === 'OPTIONS' ? headers['access-control-request-method'] : method
    const found = this.#router.find(asked ?? '', path)
    return found !== null && Object.hasOwn(PAGE_CALLS, found.target.name)
  }

  #answerInVersion(request: HttpRequest): HttpResponse {
    const asked = request.headers['stripe-version']
    const spoken = this.#versions.find(asked === undefined ? this.#context.apiVersion : `${asked}`)
    const response = this.#answer(request, spoken)
    if (spoken.version === API_VERSION && spoken.warning === null) return response
    const headers = { ...response.headers, 'stripe-version': spoken.version }
    if (spoken.warning === null) return { ...response, headers }
    return { ...response, headers: { ...headers, 'x-tollgate-sandbox-warning': spoken.warning } }
  }

  #answer(request: HttpRequest, { shape }: ResolvedVersion): HttpResponse {
    const { store } = this.#context
    const requestId =
      request.method === 'GET' ? store.nextReadId('req_', 14) : store.nextId('req_', 14)
    const trouble = this.#context.trouble.takeCallTrouble('stripe')
    if (trouble === '429') return this.#toFaultResponse(createRateLimitFault(), requestId)
    if (trouble === '500') return this.#toFaultResponse(createServerFault(), requestId)
    const response = this.#respond(request, requestId, shape, trouble)
    if (trouble === null || trouble === 'saved-500' || trouble === 'made-500') return response
    return { ...response, fate: trouble }
  }

  #respond(
    request: HttpRequest,
    requestId: string,
    shape: VersionConverter | null,
    trouble: AppliedCallFault | null,
  ): HttpResponse {
    const isV2 = request.path.startsWith('/v2/')
    try {
      const caller = this.#callsV2.isStream(request)
        ? this.#authenticateSession(request)
        : authenticateCall(request, this.#apiKeys)
      const checked = { request, requestId, shape, caller }
      const run = isV2 ? this.#checkV2(checked) : this.#check(checked)
      // A delayed or held response belongs to a request still in progress, so its key stays in use.
      // A lost response does not.
      const isLate = typeof trouble === 'object' && trouble !== null
      return this.#runIdempotently(checked, isLate, () => {
        if (trouble !== 'made-500' && trouble !== 'saved-500') return run()
        if (trouble === 'made-500') run()
        return { status: 500, body: errorJson(createServerFault().body, requestId) }
      })
    } catch (error) {
      if (error instanceof StripeFault)
        return this.#toFaultResponse(isV2 ? toV2Fault(error) : error, requestId)
      throw error
    }
  }

  /** Validates a call of `/v1`. Returns a function that runs the call. */
  #check(authenticatedCall: AuthenticatedCall): () => Answer {
    const { request, shape, caller } = authenticatedCall
    const { route, ids } = this.#findRoute(request, shape)
    this.#checkHeaders(request)
    const body = request.method === 'POST' ? request.body.toString('utf8') : ''
    const text = [request.query, body].filter((part) => part !== '').join('&')
    const form = parseForm(text)
    if (caller === 'page') {
      checkPageCall(this.#context.tables, { name: route.name, id: ids[0] ?? '', form })
    }
    shape?.upgradeParams(route.name, form)
    const removedParams = shape?.takeRemovedParams(route.name, form) ?? {}
    const params = readParameters(route.params, form)
    refuseUnsupported(route.name, params)
    if (request.method === 'POST') checkAmounts(params, ids, this.#context.tables)
    return () => this.#run(authenticatedCall, route, { ids, params, removedParams })
  }

  /** Validates a call of `/v2`. Returns a function that runs the call. */
  #checkV2(asked: AuthenticatedCall): () => Answer {
    const { request, requestId, caller } = asked
    const found = caller === 'page' ? null : this.#callsV2.find(request)
    if (!found) throw createUnknownUrlFault(request)
    const { ids, params, run } = found
    return () => {
      const work = this.#openUnitOfWork(asked, ids, params)
      try {
        const answer = runAtomically(work, () => run(params as never, { work, ids }))
        return { status: 200, body: JSON.stringify(answer) }
      } catch (error) {
        if (!(error instanceof StripeFault)) throw error
        return { status: error.status, body: errorJson(toV2Fault(error).body, requestId) }
      }
    }
  }

  #authenticateSession(request: HttpRequest): ApiCaller {
    const sessions = this.#context.tables['v2.billing.meter_event_session']
    const endOf = (token: string) => sessions.readBy('token', token)[0]?.$.expires ?? null
    return authenticateSession(request, endOf, readClockTime(this.#context))
  }

  #findRoute(
    request: HttpRequest,
    shape: VersionConverter | null,
  ): { route: StripeRoute; ids: readonly string[] } {
    const { method, path } = request
    const old = shape?.operationAt(method, path)
    const route = this.#routes.get(old?.target ?? '')
    if (old && route) return { route, ids: listPathIds(old.params) }
    const found = this.#router.find(method, path)
    if (!found) throw createUnknownUrlFault(request)
    return { route: found.target, ids: listPathIds(found.params) }
  }

  tooLarge(): HttpResponse {
    const fault = createFaultWithStatus(413, 'Request body is too large.')
    return this.#toFaultResponse(fault, this.#context.store.nextId('req_', 14))
  }

  /**
   * Returns the response to an internal error of the sandbox, in the format of Stripe's own
   * internal errors.
   */
  failed(): HttpResponse {
    return this.#toFaultResponse(createServerFault(), this.#context.store.nextId('req_', 14))
  }

  #checkHeaders(request: HttpRequest): void {
    const account = request.headers['stripe-account']
    // The header may name the key's own account. No other accounts are connected to it.
    if (account !== undefined && account !== ACCOUNT_ID) {
      throw createFaultWithStatus(
        403,
        `The provided key '${maskKey(this.#apiKeys.apiKey)}' does not have access to account '${String(account)}' (or that account does not exist). Application access may have been revoked.`,
        'account_invalid',
      )
    }
    const type = request.headers['content-type'] ?? ''
    if (
      request.method === 'POST' &&
      request.body.length > 0 &&
      !type.startsWith('application/x-www-form-urlencoded')
    ) {
      throw createInvalidRequestFault(
        `Invalid request (check that your POST content type is application/x-www-form-urlencoded). If you have any questions, we can help at https://support.stripe.com/.`,
      )
    }
  }

  #runIdempotently(
    { request, requestId, caller }: AuthenticatedCall,
    isLate: boolean,
    run: () => Answer,
  ): HttpResponse {
    const header = request.headers['idempotency-key']
    const key =
      request.method === 'POST' && typeof header === 'string' && header !== '' ? header : null
    if (key === null) return toHttpResponse(run(), requestId)
    const nowMs = this.#context.clock.nowMs()
    const { method, path, body } = request
    // Kept apart, so that a page that knows a server's idempotency key does not receive the
    // server's response.
    const kept = caller === 'page' ? `page ${key}` : key
    const known = this.#keys.find(kept, method, path, body, nowMs)
    const headers = { 'idempotency-key': key }
    if (known) {
      return toHttpResponse(known, requestId, {
        ...headers,
        'idempotent-replayed': 'true',
        'original-request': known.requestId,
      })
    }
    const response = run()
    this.#keys.remember(kept, { method, path, body, requestId, nowMs }, response)
    const first = { ...headers, 'original-request': requestId }
    const answer = toHttpResponse(response, requestId, first)
    return isLate ? { ...answer, whenDone: this.#keys.hold(kept) } : answer
  }

  #openUnitOfWork(
    { request, requestId: id, shape }: AuthenticatedCall,
    ids: readonly string[],
    params: Record<string, unknown>,
  ): UnitOfWork {
    const key = request.headers['idempotency-key']
    return new UnitOfWork(this.#context, {
      request: { id, idempotencyKey: typeof key === 'string' ? key : null },
      about: collectIds(ids, params),
      legacyFeatures: shape?.legacyFeatures ?? NO_LEGACY_FEATURES,
    })
  }

  #run(
    asked: AuthenticatedCall,
    { operation }: StripeRoute,
    { ids, params, removedParams }: ValidatedCall,
  ): Answer {
    const { request, requestId, shape, caller } = asked
    const isPage = caller === 'page'
    const work = this.#openUnitOfWork(asked, ids, params)
    try {
      const body = runAtomically(work, () => {
        const isCardInput = isPage && isFromCardField(request)
        const id = ids.at(-1) ?? ''
        const call = {
          work,
          ids,
          id,
          removedParams,
          path: request.path,
          isFromCardField: isCardInput,
        }
        const rendered: OperationResponse = operation(params as never, call)
        const paths = (params.expand ?? []) as string[]
        if (paths.some((path) => path.includes('balance_transaction'))) markAvailableFunds(work)
        const response = ownResponse(rendered, paths, shape)
        const { tables } = this.#context
        expandObjects(response, paths, { tables, shape, total: () => countAllRows(rendered) })
        return toJson(isPage ? filterForPage(response) : response)
      })
      return { status: 200, body }
    } catch (error) {
      if (!(error instanceof StripeFault)) throw error
      const told = shape ? shape.downgrade(error.body) : error.body
      const body = isPage ? filterForPage(told) : told
      return { status: error.status, body: errorJson(body, requestId) }
    }
  }

  #toFaultResponse(fault: StripeFault, requestId: string): HttpResponse {
    const headers: Record<string, string> = {}
    if (fault.status === 401) headers['www-authenticate'] = 'Basic realm="Stripe"'
    if (fault.status === 429) headers['stripe-rate-limited-reason'] = 'global-rate'
    const { status, body } = fault
    return toHttpResponse({ status, body: errorJson(body, requestId) }, requestId, headers)
  }
}

function toHttpResponse(
  answer: Answer,
  requestId: string,
  more: Readonly<Record<string, string>> = {},
): HttpResponse {
  const headers = {
    'content-type': 'application/json',
    'request-id': requestId,
    'stripe-version': API_VERSION,
    ...more,
  }
  return { status: answer.status, body: answer.body, headers }
}

const NO_LEGACY_FEATURES: ReadonlySet<LegacyFeature> = new Set()

interface Answer {
  readonly status: number
  readonly body: string
}

/** A request that has been authenticated. */
interface AuthenticatedCall {
  readonly request: HttpRequest
  readonly requestId: string
  readonly shape: VersionConverter | null
  readonly caller: ApiCaller
}

/** Validated input of a call. */
interface ValidatedCall {
  readonly ids: readonly string[]
  readonly params: Record<string, unknown>
  readonly removedParams: Readonly<Record<string, string>>
}

/**
 * Collects the ids a call refers to: in its path, its parameters and the payload of reported usage.
 */
function collectIds(ids: readonly string[], params: Record<string, unknown>): string[] {
  const named = [...ids, ...Object.values(params), ...Object.values(params.payload ?? {})]
  return named.filter((value) => typeof value === 'string')
}

/**
 * Copies the rendered object if it will be changed, because it shares nested objects with the
 * tables.
 */
function ownResponse(
  rendered: OperationResponse,
  paths: readonly string[],
  shape: VersionConverter | null,
): OperationResponse {
  if (shape) return shape.downgrade(rendered)
  return paths.length > 0 ? copyJson(rendered) : rendered
}

/** Formats JSON with indentation, as Stripe does. */
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

function createUnknownUrlFault(request: HttpRequest): StripeFault {
  return createFaultWithStatus(
    404,
    `Unrecognized request URL (${request.method}: ${request.path}). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.`,
  )
}

function createRateLimitFault(): StripeFault {
  return createFaultWithStatus(
    429,
    'Request rate limit exceeded. You can learn more about rate limits here https://stripe.com/docs/rate-limits.',
    'rate_limit',
  )
}

function createServerFault(): StripeFault {
  return new StripeFault(500, {
    type: 'api_error',
    message:
      'An unknown error occurred. We have been notified of the problem. If you have any questions, we can help at https://support.stripe.com/.',
  })
}
