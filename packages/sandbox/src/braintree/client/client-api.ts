import type { HttpRequest, HttpResponse } from '../../core/http.ts'
import { PathRouter } from '../../core/router.ts'
import { parseJson } from '../api/body.ts'
import { type ContextByMerchant, splitPath } from '../api/keys.ts'
import { type BraintreeContext, recordVersionsWithCause } from '../state/context.ts'
import { type ClientAuthorization, readFingerprint } from '../vault/fingerprints.ts'
import {
  AuthenticationFailed,
  BadRequest,
  BraintreeError,
  NotAuthorized,
  NotFound,
  ValidationRefused,
} from '../wire/errors.ts'
import { isObject, RequestFields } from '../wire/validation.ts'
import type { ClientCall, ClientResponse } from './call.ts'
import { readConfiguration } from './configuration.ts'
import { addCard, addPayPalAccount, listMethods, setUpAgreement } from './payment-methods.ts'
import { lookUpThreeDSecure, startThreeDSecure } from './three-d-secure.ts'

type ClientOperation = (call: ClientCall) => ClientResponse

const OPERATIONS: Readonly<Record<string, ClientOperation>> = {
  'GET /client_api/v1/configuration': readConfiguration,
  'GET /client_api/v1/payment_methods': listMethods,
  'POST /client_api/v1/payment_methods/credit_cards': addCard,
  'POST /client_api/v1/payment_methods/paypal_accounts': addPayPalAccount,
  'POST /client_api/v1/payment_methods/:nonce/three_d_secure/lookup': lookUpThreeDSecure,
  'POST /client_api/v1/payment_methods/:nonce/three_d_secure/authenticate_from_jwt':
    startThreeDSecure,
  'POST /client_api/v1/paypal_hermes/setup_billing_agreement': setUpAgreement,
}

/** Pages of any origin may call: they send no cookies and authenticate with the client token. */
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'content-type, authorization, braintree-version',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
}

/** The API that web pages call. A client token authenticates these calls instead of API keys. */
export class ClientApi {
  readonly #merchants: ContextByMerchant
  readonly #router = new PathRouter<ClientOperation>()

  constructor(merchants: ContextByMerchant) {
    this.#merchants = merchants
    for (const [key, operation] of Object.entries(OPERATIONS)) {
      const [method = '', path = ''] = key.split(' ')
      this.#router.add(method, path, operation)
    }
  }

  isFor(path: string): boolean {
    return /^\/merchants\/[^/]+\/client_api\//.test(path)
  }

  handle(request: HttpRequest): HttpResponse {
    if (request.method === 'OPTIONS') return { status: 204, headers: HEADERS }
    try {
      const { merchantId, path } = splitPath(request.path)
      const context = this.#merchants.get(merchantId)
      const route = this.#router.find(request.method, path.replace(/\.json$/, ''))
      if (!context || !route) throw new NotFound('No such URL')
      const fields = readFields(request)
      const authorization = authorize(context, fields, request.headers.origin)
      return recordVersionsWithCause(context, 'a page with the client API', () =>
        toHttpResponse(route.target({ context, authorization, fields, params: route.params })),
      )
    } catch (error) {
      if (!(error instanceof BraintreeError)) throw error
      const fieldErrors = error instanceof ValidationRefused ? error.errors.toFieldErrors() : []
      const body = JSON.stringify({ error: { message: error.message }, fieldErrors })
      return { status: error.status, headers: HEADERS, body }
    }
  }
}

function toHttpResponse({ status, value }: ClientResponse): HttpResponse {
  return { status, headers: HEADERS, body: JSON.stringify(value) }
}

function readFields({ body, query }: HttpRequest): RequestFields {
  const fromQuery = Object.fromEntries(new URLSearchParams(query))
  const fromBody = body.length === 0 ? {} : parseJson(body)
  if (!isObject(fromBody)) throw new BadRequest('An object was expected')
  return new RequestFields(withUnderscores({ ...fromQuery, ...fromBody }))
}

/**
 * Converts names to snake_case: Braintree's scripts send `creditCard`, its own tests `credit_card`.
 */
function withUnderscores(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnderscores)
  if (!isObject(value)) return value
  const named = Object.entries(value).map(([name, part]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    withUnderscores(part),
  ])
  return Object.fromEntries(named)
}

function authorize(
  context: BraintreeContext,
  fields: RequestFields,
  origin: string | undefined,
): ClientAuthorization {
  const authorization = readFingerprint(context, fields.text('authorization_fingerprint') ?? '')
  if (!authorization) throw new AuthenticationFailed('The client token is not valid')
  const { domains } = authorization
  const host = origin && URL.canParse(origin) ? new URL(origin).hostname : null
  const isAtHome = domains.some((domain) => host === domain || host?.endsWith(`.${domain}`))
  if (host !== null && domains.length > 0 && !isAtHome) {
    throw new NotAuthorized('The client token is for another domain')
  }
  return authorization
}
