import { createHash, timingSafeEqual } from 'node:crypto'
import type { HttpReply, HttpRequest } from '../../core/http.ts'
import { clientToken } from '../resources/client-token.ts'
import { customers } from '../resources/customers.ts'
import { modificationsForTests } from '../resources/for-tests.ts'
import { merchantAccounts } from '../resources/merchant-accounts.ts'
import { paymentMethodNonces, paymentMethods } from '../resources/payment-methods.ts'
import { addOns, discounts, plans } from '../resources/plans.ts'
import { subscriptions } from '../resources/subscriptions.ts'
import { transactions } from '../resources/transactions.ts'
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
import { paramsXml } from './params-xml.ts'
import { type Answer, Router } from './routing.ts'

/** By the first segment below `/merchants/<id>`. */
const router = new Router({
  client_token: clientToken,
  customers,
  payment_methods: paymentMethods,
  payment_method_nonces: paymentMethodNonces,
  merchant_accounts: merchantAccounts,
  modifications: modificationsForTests,
  plans,
  add_ons: addOns,
  discounts,
  subscriptions,
  transactions,
})

const XML = { 'content-type': 'application/xml; charset=utf-8' }
const DEEPEST = 20

/** One call: trouble on demand, the keys, the route, the answer. */
export function answerCall(context: BraintreeContext, request: HttpRequest): HttpReply {
  const trouble = context.trouble.takeCallTrouble('braintree')
  if (trouble === '429' || trouble === '500') return { status: Number(trouble) }
  if (trouble === 'saved-500') return { status: 500 }
  const reply = answerOrRefuse(context, request)
  if (trouble === 'made-500') return { status: 500 }
  return trouble ? { ...reply, fate: trouble } : reply
}

function answerOrRefuse(context: BraintreeContext, request: HttpRequest): HttpReply {
  let body: unknown
  try {
    checkKeys(context, request.headers.authorization)
    const path = pathWithin(context, request.path)
    const route = router.find(request.method, path)
    if (!route) throw new NotFound('No such URL')
    body = parseBody(request.body)
    const query = new URLSearchParams(request.query)
    return toReply(route.handler({ context, params: route.params, query, body }))
  } catch (error) {
    if (error instanceof Refused) return refusalReply(error, body)
    if (error instanceof BraintreeError) return { status: error.status }
    throw error
  }
}

function checkKeys(context: BraintreeContext, authorization: string | undefined): void {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/.exec(authorization ?? '')?.[1]
  const given = Buffer.from(encoded ?? '', 'base64').toString()
  const { publicKey, privateKey } = context.credentials
  const digest = (text: string) => createHash('sha256').update(text).digest()
  if (!timingSafeEqual(digest(given), digest(`${publicKey}:${privateKey}`))) {
    throw new AuthenticationFailed('Wrong keys')
  }
}

/** The path below the merchant; these keys open no other merchant's. */
function pathWithin(context: BraintreeContext, path: string): string {
  const match = /^\/merchants\/([^/]+)(\/.*)?$/.exec(path)
  if (!match) throw new NotFound('No such URL')
  if (match[1] !== context.credentials.merchantId) throw new NotAuthorized('Not your merchant')
  return match[2] ?? '/'
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

function toReply(answer: Answer): HttpReply {
  // An empty body: the SDK's XML parser fails on a document without a root.
  if (answer === null) return { status: 200 }
  return {
    status: answer.status ?? 200,
    headers: XML,
    body: xmlDocument(answer.root, answer.value),
  }
}

function refusalReply(error: Refused, body: unknown): HttpReply {
  const value = {
    errors: error.errors.toXml(),
    params: paramsXml(body),
    message: error.message,
    ...error.extras,
  }
  return { status: 422, headers: XML, body: xmlDocument('api_error_response', value) }
}
