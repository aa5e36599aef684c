import type { ServerContext } from '../../context.ts'
import type { Feature } from '../feature.ts'
import { verifyAssertion } from './assertion.ts'
import { type JwtClientAuthenticationOptions, resolveJwtAuthentication } from './settings.ts'

/** RFC 7523 §2.2. */
const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/**
 * Clients prove themselves by a JWT that they sign for each request (RFC 7523): with a key of their own
 * (`private_key_jwt`), of which this server knows the public half only, or with their secret (`client_secret_jwt`).
 * It is for those clients whose `settings` have that as `token_endpoint_auth_method`.
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
