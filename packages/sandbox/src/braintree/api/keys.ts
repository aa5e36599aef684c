import { createHash, timingSafeEqual } from 'node:crypto'
import type { HttpRequest } from '../../core/http.ts'
import type { BraintreeContext } from '../state/context.ts'
import { AuthenticationFailed, NotAuthorized, NotFound } from '../wire/errors.ts'

/**
 * The merchants of a server: each merchant id with the context that holds its API keys and tables.
 */
export type ContextByMerchant = ReadonlyMap<string, BraintreeContext>

/**
 * Returns the merchant that an API call is for, and the call's path below the merchant. Rejects API
 * keys of another merchant.
 */
export function resolveMerchant(
  merchants: ContextByMerchant,
  request: HttpRequest,
): { readonly context: BraintreeContext; readonly path: string } {
  const context = merchantWithKeys(merchants, request.headers.authorization)
  const { merchantId, path } = splitPath(request.path)
  if (merchantId !== context.keys.merchantId) throw new NotAuthorized('Not your merchant')
  return { context, path }
}

function merchantWithKeys(
  merchants: ContextByMerchant,
  authorization: string | undefined,
): BraintreeContext {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/.exec(authorization ?? '')?.[1]
  const given = digest(Buffer.from(encoded ?? '', 'base64').toString())
  for (const context of merchants.values()) {
    const { publicKey, privateKey } = context.keys
    if (timingSafeEqual(given, digest(`${publicKey}:${privateKey}`))) return context
  }
  throw new AuthenticationFailed('Wrong keys')
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/**
 * Splits `/merchants/<id>/…` into the merchant id and the remaining path without empty segments.
 */
export function splitPath(path: string): { readonly merchantId: string; readonly path: string } {
  const match = /^\/merchants\/([^/]+)(\/.*)?$/.exec(path)
  if (!match) throw new NotFound('No such URL')
  const below = (match[2] ?? '').split('/').filter(Boolean)
  return { merchantId: match[1] ?? '', path: `/${below.join('/')}` }
}
