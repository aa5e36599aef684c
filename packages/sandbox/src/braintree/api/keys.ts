import { createHash, timingSafeEqual } from 'node:crypto'
import type { HttpRequest } from '../../core/http.ts'
import type { BraintreeContext } from '../state/context.ts'
import { AuthenticationFailed, NotAuthorized, NotFound } from '../wire/errors.ts'

/** By merchant id; each has its own keys and its own tables. */
export type Merchants = ReadonlyMap<string, BraintreeContext>

/** Whose call it is, and the path below the merchant. Keys open their own merchant and no other's. */
export function merchantOf(
  merchants: Merchants,
  request: HttpRequest,
): { readonly context: BraintreeContext; readonly path: string } {
  const context = merchantWithKeys(merchants, request.headers.authorization)
  const { merchantId, path } = splitPath(request.path)
  if (merchantId !== context.keys.merchantId) throw new NotAuthorized('Not your merchant')
  return { context, path }
}

function merchantWithKeys(
  merchants: Merchants,
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

/** `/merchants/<id>/…`, without empty segments below it. */
export function splitPath(path: string): { readonly merchantId: string; readonly path: string } {
  const match = /^\/merchants\/([^/]+)(\/.*)?$/.exec(path)
  if (!match) throw new NotFound('No such URL')
  const below = (match[2] ?? '').split('/').filter(Boolean)
  return { merchantId: match[1] ?? '', path: `/${below.join('/')}` }
}
