import type { HttpResponse } from '@tollgate/http'
import { type OAuthError, toPrintable } from '../errors.ts'
import { ENGLISH, type PageText } from '../pages/messages/messages.ts'
import type { ResponseTarget } from './request.ts'
import { responseModes } from './response-modes.ts'

/**
 * Creates the authorization response (RFC 6749 §4.1.2 and §4.2.2), with `iss` (RFC 9207) so that a
 * client can tell servers apart.
 */
export function createAuthorizationResponse(
  address: Pick<ResponseTarget, 'redirectTo' | 'state' | 'mode'>,
  params: Readonly<Record<string, string>>,
  issuer: string,
  t: PageText = ENGLISH,
): HttpResponse {
  const { redirectTo, state, mode } = address
  const pairs = Object.entries(params)
  if (state !== null) pairs.push(['state', state])
  pairs.push(['iss', issuer])
  return responseModes[mode](redirectTo, pairs, t)
}

export function createAuthorizationErrorResponse(
  address: Pick<ResponseTarget, 'redirectTo' | 'state' | 'mode'>,
  error: OAuthError,
  issuer: string,
  t: PageText,
): HttpResponse {
  const params = { error: error.code, error_description: toPrintable(error.message) }
  return createAuthorizationResponse(address, params, issuer, t)
}
