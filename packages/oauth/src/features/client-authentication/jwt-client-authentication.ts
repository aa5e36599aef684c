import type { ServerContext } from '../../context.ts'
import type { Feature } from '../feature.ts'
import { verifyAssertion } from './assertion.ts'
import { type JwtClientAuthenticationOptions, resolveJwtAuthentication } from './settings.ts'

/** The `client_assertion_type` of RFC 7523 §2.2. */
const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/**
 * Lets clients authenticate with a JWT that they sign for each request (RFC 7523): with their own
 * key, of which the server knows only the public half (`private_key_jwt`), or with their secret
 * (`client_secret_jwt`). Applies to clients whose `settings` have that
 * `token_endpoint_auth_method`.
 * @example
 * createAuthorizationServer({ …, features: [jwtClientAuthentication()] })
 */
export function jwtClientAuthentication(options: JwtClientAuthenticationOptions = {}): Feature {
  const settings = resolveJwtAuthentication(options)
  const { methods, algorithmsOf, exclusive } = settings
  return {
    name: 'jwtClientAuthentication',
    authentication: {
      methods,
      exclusive,
      algorithms: methods.flatMap((method) => algorithmsOf[method]),
      authenticate(params, context: ServerContext) {
        const text = params.get('client_assertion')
        if (text === undefined || params.get('client_assertion_type') !== TYPE) return null
        return verifyAssertion(text, params, settings, context)
      },
    },
  }
}
