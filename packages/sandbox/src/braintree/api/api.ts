import { createHash, timingSafeEqual } from 'node:crypto'
import type { HttpRequest, HttpResponse } from '../../core/http.ts'
import type { Router } from '../../core/router.ts'
import type { BraintreeContext } from '../state/context.ts'
import {
  AuthenticationFailed,
  BadRequest,
  BraintreeError,
  NotAuthorized,
  NotFound,
  Refused,
} from '../wire/errors.ts'
import { xmlDocument } from '../wire/xml.ts'
import type { Operation, OperationResponse, Operations } from './operation.ts'
import { paramsXml } from './params-xml.ts'
import { createRouter } from './routes.ts'

const XML = { 'content-type': 'application/xml; charset=utf-8' }
const DEEPEST = 20

/** Handles one call after the other as Braintree does. */
export class BraintreeApi {
  readonly #context: BraintreeContext
  readonly #router: Router<Operation>

  constructor(context: BraintreeContext, operations: Readonly<Record<string, Operations>>) {
    this.#context = context
    this.#router = createRouter(operations)
  }

  /** One call: trouble on demand, the keys, the route, the operation. */
  handle(request: HttpRequest): HttpResponse {
    const trouble = this.#context.trouble.takeCallTrouble('braintree')
    if (trouble === '429' || trouble === '500') return { status: Number(trouble) }
    if (trouble === 'saved-500') return { status: 500 }
    const response = this.#respond(request)
    if (trouble === 'made-500') return { status: 500 }
    return trouble ? { ...response, fate: trouble } : response
  }

  #respond(request: HttpRequest): HttpResponse {
    const context = this.#context
    let body: unknown
    try {
      checkKeys(context, request.headers.authorization)
      const route = this.#router.find(request.method, pathWithin(context, request.path))
      if (!route) throw new NotFound('No such URL')
      body = parseBody(request.body)
      const query = new URLSearchParams(request.query)
      return toHttpResponse(route.target({ context, params: route.params, query, body }))
    } catch (error) {
      if (error instanceof Refused) return refusalResponse(error, body)
      if (error instanceof BraintreeError) return { status: error.status }
      throw error
    }
  }
}

function checkKeys(context: BraintreeContext, authorization: string | undefined): void {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/.exec(authorization ?? '')?.[1]
  const given = Buffer.from(encoded ?? '', 'base64').toString()
  const { publicKey, privateKey } = context.keys
  const digest = (text: string) => createHash('sha256').update(text).digest()
  if (!timingSafeEqual(digest(given), digest(`${publicKey}:${privateKey}`))) {
    throw new AuthenticationFailed('Wrong keys')
  }
}

/** The path below the merchant; these keys open no other merchant's. */
function pathWithin(context: BraintreeContext, path: string): string {
  const match = /^\/merchants\/([^/]+)(\/.*)?$/.exec(path)
  if (!match) throw new NotFound('No such URL')
  if (match[1] !== context.keys.merchantId) throw new NotAuthorized('Not your merchant')
  return `/${(match[2] ?? '').split('/').filter(Boolean).join('/')}`
}

function parseBody(body: Buffer): unknown {
  if (body.length === 0) return undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new BadRequest('The body is not JSON', { cause })
  }
  if (isTooDeep(parsed)) throw new BadRequest('The body is nested too deep')
  return parsed
}

function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    )
  }
  return false
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
