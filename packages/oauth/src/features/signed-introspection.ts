import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { type SigningAlgorithm, signingAlgorithms } from '../crypto.ts'
import { noStoreJson } from '../http/responses.ts'
import { parseOfferedAlgorithms } from '../keys/offered-algorithms.ts'
import { signJwt } from '../keys/signing-key.ts'
import type { Client } from '../storage/records.ts'
import type { Feature } from './feature.ts'

/** What `signedIntrospection()` is made with. */
export interface SignedIntrospectionOptions {
  /**
   * What answers are signed with, unless a client has an `introspection_signed_response_alg`. Default `RS256`,
   * which RFC 9701 says, or the first of `algorithms`.
   */
  readonly algorithm?: SigningAlgorithm
  /** What clients may choose from, beside the algorithm of access tokens. Default: `algorithm` and `RS256`. */
  readonly algorithms?: readonly SigningAlgorithm[]
}

const TYPE = 'token-introspection+jwt'

/**
 * Introspection as a JWT (RFC 9701) for APIs that want to prove later what they were told: whoever asks with
 * `Accept: application/token-introspection+jwt` gets one.
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
  /** Those that there are keys for: that of access tokens as well. */
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
      const wished = client.settings.introspection_signed_response_alg
      const chosen = offered(context).find((name) => name === wished) ?? algorithm
      return sign(description, client, chosen, context)
    },
  }
}

function accepts(request: HttpRequest): boolean {
  return request.header('accept')?.toLowerCase().includes(`application/${TYPE}`) ?? false
}

/** RFC 9701 §5. What the token says stands within: at the top it could pass for a token itself. */
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
  return { ...noStoreJson(null, 200, { 'content-type': `application/${TYPE}` }), body }
}
