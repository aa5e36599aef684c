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
      requireCodeChallenge(params, request, 'This server')
      return null
    },
  }
}

/**
 * Rejects an authorization request for a code if it has no `code_challenge`. Device requests are
 * not checked, because they get no code. `who` names the party that requires PKCE in the error
 * message, such as "This server".
 */
export function requireCodeChallenge(
  params: Form,
  { responseType, direct }: RequestedAuthorization,
  who: string,
): void {
  if (direct || !responseType.split(' ').includes('code') || params.has('code_challenge')) return
  throw new InvalidRequest(`${who} needs PKCE: send a code_challenge with S256`)
}
