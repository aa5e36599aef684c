import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { type SigningAlgorithm, signingAlgorithms } from '../crypto.ts'
import { noStoreJsonResponse } from '../http/responses.ts'
import { parseOfferedAlgorithms, signJwt } from '../keys/signing-key.ts'
import type { Client } from '../storage/records.ts'
import type { Feature } from './feature.ts'

/** Options of `signedIntrospection()`. */
export interface SignedIntrospectionOptions {
  /**
   * Algorithm of the signed responses, unless a client has the setting
   * `introspection_signed_response_alg`.
   * @default the first of `algorithms`, otherwise 'RS256' (RFC 9701)
   */
  readonly algorithm?: SigningAlgorithm
  /**
   * Algorithms that clients can choose, in addition to the algorithm of access tokens.
   * @default `algorithm` and 'RS256'
   */
  readonly algorithms?: readonly SigningAlgorithm[]
}

const TYPE = 'token-introspection+jwt'

/**
 * Adds signed introspection responses (RFC 9701), for APIs that have to prove later what the server
 * told them. A request with `Accept: application/token-introspection+jwt` gets a JWT.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode()], features: [signedIntrospection()] })
 */
export function signedIntrospection(options: SignedIntrospectionOptions = {}): Feature {
  const { algorithm = options.algorithms?.[0] ?? 'RS256' } = options
  if (!signingAlgorithms.includes(algorithm)) {
    throw new TypeError(
      `signedIntrospection: algorithm '${algorithm}' is not one of ${signingAlgorithms.join(', ')}.`,
    )
  }
  const algorithms = parseOfferedAlgorithms(
    'signedIntrospection: algorithms',
    options.algorithms,
    algorithm,
  )
  /** The algorithms that keys exist for, including the algorithm of access tokens. */
  const offered = ({ options: { signingAlgorithm } }: ServerContext) => [
    ...new Set([...algorithms, signingAlgorithm]),
  ]
  return {
    name: 'signedIntrospection',
    algorithms,
    metadata: (context: ServerContext) => ({
      introspection_signing_alg_values_supported: offered(context),
    }),
    introspection(description, { request, client }, context: ServerContext) {
      if (!accepts(request)) return null
      const preferred = client.settings.introspection_signed_response_alg
      const chosen = offered(context).find((name) => name === preferred) ?? algorithm
      return sign(description, client, chosen, context)
    },
  }
}

function accepts(request: HttpRequest): boolean {
  return request.header('accept')?.toLowerCase().includes(`application/${TYPE}`) ?? false
}

/**
 * Creates the JWT (RFC 9701 §5). The token's claims are nested, because at the top level the JWT
 * could pass for a token.
 */
async function sign(
  description: Readonly<Record<string, unknown>>,
  client: Client,
  algorithm: SigningAlgorithm,
  context: ServerContext,
): Promise<HttpResponse> {
  const claims = {
    iss: context.issuer,
    aud: client.id,
    iat: Math.floor(context.clock.now().getTime() / 1000),
    token_introspection: description,
  }
  const body = await signJwt(context.keys.current(algorithm), TYPE, claims)
  return { ...noStoreJsonResponse(null, 200, { 'content-type': `application/${TYPE}` }), body }
}
