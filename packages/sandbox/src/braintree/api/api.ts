import type { HttpRequest, HttpResponse } from '../../core/http.ts'
import { PathRouter } from '../../core/router.ts'
import type { FailureSimulator } from '../../core/trouble.ts'
import { recordVersionsWithCause } from '../state/context.ts'
import { BraintreeError, NotFound, ValidationRefused } from '../wire/errors.ts'
import { isObject } from '../wire/validation.ts'
import { renderXmlDocument, XmlList, type XmlObject, type XmlValue } from '../wire/xml.ts'
import { parseBody } from './body.ts'
import { type ContextByMerchant, resolveMerchant } from './keys.ts'
import type { BraintreeOperation, BraintreeOperations, OperationResponse } from './operation.ts'

const XML = { 'content-type': 'application/xml; charset=utf-8' }

/**
 * Braintree's API: answers HTTP requests with Braintree's responses, validation errors and status
 * codes.
 */
export class BraintreeApi {
  readonly #merchants: ContextByMerchant
  readonly #router: PathRouter<BraintreeOperation>
  readonly #trouble: FailureSimulator

  constructor(
    merchants: ContextByMerchant,
    operations: Readonly<Record<string, BraintreeOperations>>,
    trouble: FailureSimulator,
  ) {
    this.#merchants = merchants
    this.#router = createRouter(operations)
    this.#trouble = trouble
  }

  /**
   * Handles one API call: checks simulated failures, the API keys and the route, then runs the
   * operation.
   */
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
      const { context, path } = resolveMerchant(this.#merchants, request)
      const route = this.#router.find(request.method, path)
      if (!route) throw new NotFound('No such URL')
      body = parseBody(request)
      const query = new URLSearchParams(request.query)
      const { params } = route
      return recordVersionsWithCause(context, `${request.method} ${path}`, () =>
        toHttpResponse(route.target({ context, params, query, body })),
      )
    } catch (error) {
      if (error instanceof ValidationRefused) return refusalResponse(error, body)
      if (error instanceof BraintreeError) return { status: error.status }
      throw error
    }
  }
}

function toHttpResponse(response: OperationResponse): HttpResponse {
  // An empty body, because the SDK's XML parser fails on a document without a root.
  if (response === null) return { status: 200 }
  return {
    status: response.status ?? 200,
    headers: XML,
    body: renderXmlDocument(response.root, response.value),
  }
}

function refusalResponse(error: ValidationRefused, body: unknown): HttpResponse {
  const value = {
    errors: error.errors.toXml(),
    params: paramsXml(body),
    message: error.message,
    ...error.extras,
  }
  return { status: 422, headers: XML, body: renderXmlDocument('api_error_response', value) }
}

/**
 * Builds the router from the operations of each resource, whose paths are relative to the resource.
 */
function createRouter(
  resources: Readonly<Record<string, BraintreeOperations>>,
): PathRouter<BraintreeOperation> {
  const router = new PathRouter<BraintreeOperation>()
  for (const [name, operations] of Object.entries(resources)) {
    for (const [key, operation] of Object.entries(operations)) {
      const [method = '', path = ''] = key.split(' ')
      router.add(method, `/${name}${path === '/' ? '' : path}`, operation)
    }
  }
  return router
}

const SECRET = new Set(['number', 'cvv', 'encrypted_card_data'])

/**
 * Returns the request's params without card data. Braintree repeats them beside validation errors.
 */
function paramsXml(body: unknown): XmlObject {
  if (!isObject(body)) return {}
  const fields: Record<string, XmlValue> = {}
  for (const [name, value] of Object.entries(body)) {
    // Names that are not valid XML element names cannot be repeated.
    if (SECRET.has(name) || !/^[A-Za-z_][\w-]*$/.test(name)) continue
    fields[name] = paramXml(value)
  }
  return fields
}

function paramXml(value: unknown): XmlValue {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return new XmlList('item', value.map(paramXml))
  return isObject(value) ? paramsXml(value) : String(value)
}
