import { InvalidRequest } from '../errors.ts'
import type { Form } from '../http/form.ts'
import type { Feature, RequestedAuthorization } from './feature.ts'

/**
 * PKCE for every client (RFC 7636), as OAuth 2.1 and FAPI 2.0 want it: an authorization request that asks for a code
 * needs a `code_challenge` with S256. Without this feature clients with a secret may leave it out.
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

/** Refuses a request for a code without a challenge. A device has its own proof, and no code of this kind. */
export function requireChallenge(
  params: Form,
  { responseType, direct }: RequestedAuthorization,
  who: string,
): void {
  if (direct || !responseType.split(' ').includes('code') || params.has('code_challenge')) return
  throw new InvalidRequest(`${who} needs PKCE: send a code_challenge with S256`)
}
