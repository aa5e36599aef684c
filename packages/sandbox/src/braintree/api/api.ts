import type { HttpRequest, HttpResponse } from '../../core/http.ts'
import type { Router } from '../../core/router.ts'
import type { Trouble } from '../../core/trouble.ts'
import { inStep } from '../state/context.ts'
import { BraintreeError, NotFound, Refused } from '../wire/errors.ts'
import { xmlDocument } from '../wire/xml.ts'
import { parseBody } from './body.ts'
import { type Merchants, merchantOf } from './keys.ts'
import type { Operation, OperationResponse, Operations } from './operation.ts'
import { paramsXml } from './params-xml.ts'
import { createRouter } from './routes.ts'

const XML = { 'content-type': 'application/xml; charset=utf-8' }

/** Handles one call after the other as Braintree does. */
export class BraintreeApi {
  readonly #merchants: Merchants
  readonly #router: Router<Operation>
  readonly #trouble: Trouble

  constructor(
    merchants: Merchants,
    operations: Readonly<Record<string, Operations>>,
    trouble: Trouble,
  ) {
    this.#merchants = merchants
    this.#router = createRouter(operations)
    this.#trouble = trouble
  }

  /** One call: trouble on demand, the keys, the route, the operation. */
  handle(request: HttpRequest): HttpResponse {
    const trouble = this.#trouble.takeCallTrouble('braintree')
    if (trouble === '429' || trouble === '500') return { status: Number(trouble) }
    if (trouble === 'saved-500') return { status: 500 }
    const response = this.#respond(request)
    if (trouble === 'made-500') return { status: 500 }
    return trouble ? { ...response, fate: trouble } : response
  }

  #respond(request: HttpRequest): HttpResponse {
    let body: unknown
    try {
      const { context, path } = merchantOf(this.#merchants, request)
      const route = this.#router.find(request.method, path)
      if (!route) throw new NotFound('No such URL')
      body = parseBody(request)
      const query = new URLSearchParams(request.query)
      const { params } = route
      return inStep(context, `${request.method} ${path}`, () =>
        toHttpResponse(route.target({ context, params, query, body })),
      )
    } catch (error) {
      if (error instanceof Refused) return refusalResponse(error, body)
      if (error instanceof BraintreeError) return { status: error.status }
      throw error
    }
  }
}

function toHttpResponse(response: OperationResponse): HttpResponse {
  // An empty body: the SDK's XML parser fails on a document without a root.
  if (response === null) return { status: 200 }
  return {
    status: response.status ?? 200,
    headers: XML,
    body: xmlDocument(response.root, response.value),
  }
}

function refusalResponse(error: Refused, body: unknown): HttpResponse {
  const value = {
    errors: error.errors.toXml(),
    params: paramsXml(body),
    message: error.message,
    ...error.extras,
  }
  return { status: 422, headers: XML, body: xmlDocument('api_error_response', value) }
}
