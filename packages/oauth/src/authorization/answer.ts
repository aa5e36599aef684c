import { type OAuthError, printable } from '../errors.ts'
import type { Reply } from '../http/exchange.ts'
import { redirect } from '../http/replies.ts'
import type { ReturnAddress } from './request.ts'

/** RFC 6749 §4.1.2 and §4.2.2, with `iss` (RFC 9207) so that a client can tell servers apart. */
export function answerUrl(
  address: Pick<ReturnAddress, 'redirectTo' | 'state' | 'mode'>,
  params: Readonly<Record<string, string>>,
  issuer: string,
): string {
  const state = address.state === null ? {} : { state: address.state }
  const encoded = Object.entries({ ...params, ...state, iss: issuer })
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  if (address.mode === 'fragment') return `${address.redirectTo}#${encoded}`
  const separator = address.redirectTo.includes('?') ? '&' : '?'
  return `${address.redirectTo}${separator}${encoded}`
}

export function answer(
  address: Pick<ReturnAddress, 'redirectTo' | 'state' | 'mode'>,
  params: Readonly<Record<string, string>>,
  issuer: string,
): Reply {
  return redirect(answerUrl(address, params, issuer))
}

export function answerError(
  address: Pick<ReturnAddress, 'redirectTo' | 'state' | 'mode'>,
  error: OAuthError,
  issuer: string,
): Reply {
  const params = { error: error.code, error_description: printable(error.message) }
  return answer(address, params, issuer)
}
