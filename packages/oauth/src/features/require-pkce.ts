import { InvalidRequest } from '../errors.ts'
import type { Form } from '../http/form.ts'
import type { Feature, RequestedAuthorization } from './feature.ts'

/**
 * Requires PKCE of every client (RFC 7636), as OAuth 2.1 and FAPI 2.0 demand: an authorization
 * request for a code needs a `code_challenge` with S256. Without this feature, confidential clients
 * may omit it.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode()], features: [requirePkce()] })
 */
export function requirePkce(): Feature {
  return {
    name: 'requirePkce',
    readRequest(params, request) {
      requireChallenge(params, request, 'This server')
      return null
    },
  }
}

/**
 * Rejects a request for a code without a challenge. Device requests have no such code and their own
 * protection.
 */
export function requireChallenge(
  params: Form,
  { responseType, direct }: RequestedAuthorization,
  who: string,
): void {
  if (direct || !responseType.split(' ').includes('code') || params.has('code_challenge')) return
  throw new InvalidRequest(`${who} needs PKCE: send a code_challenge with S256`)
}
