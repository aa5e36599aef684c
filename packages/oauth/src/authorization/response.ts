import type { HttpResponse } from '@tollgate/http'
import { type OAuthError, printable } from '../errors.ts'
import { redirect } from '../http/responses.ts'
import type { ReturnAddress } from './request.ts'

/** RFC 6749 §4.1.2 and §4.2.2, with `iss` (RFC 9207) so that a client can tell servers apart. */
export function authorizationResponseUrl(
  address: Pick<ReturnAddress, 'redirectTo' | 'state' | 'mode'>,
  params: Readonly<Record<string, string>>,
  issuer: string,
): string {
  const { redirectTo, state, mode } = address
  const separator = mode === 'fragment' ? '#' : redirectTo.includes('?') ? '&' : '?'
  let url = redirectTo + separator
  for (const [name, value] of Object.entries(params)) url += `${name}=${encodeURIComponent(value)}&`
  if (state !== null) url += `state=${encodeURIComponent(state)}&`
  return `${url}iss=${encodeURIComponent(issuer)}`
}

export function authorizationResponse(
  address: Pick<ReturnAddress, 'redirectTo' | 'state' | 'mode'>,
  params: Readonly<Record<string, string>>,
  issuer: string,
): HttpResponse {
  return redirect(authorizationResponseUrl(address, params, issuer))
}

export function authorizationErrorResponse(
  address: Pick<ReturnAddress, 'redirectTo' | 'state' | 'mode'>,
  error: OAuthError,
  issuer: string,
): HttpResponse {
  const params = { error: error.code, error_description: printable(error.message) }
  return authorizationResponse(address, params, issuer)
}
