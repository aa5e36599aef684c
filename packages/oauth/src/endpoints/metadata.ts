import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { responseModes } from '../authorization/response-modes.ts'
import { listOfferedAuthMethods } from '../clients/authentication-methods.ts'
import type { ServerContext } from '../context.ts'
import { jsonResponse } from '../http/responses.ts'

const CACHE_SECONDS = 300

const publicFor = (seconds: number) => ({
  'cache-control': `public, max-age=${seconds}`,
  'access-control-allow-origin': '*',
})

/**
 * Handles GET /.well-known/oauth-authorization-server (RFC 8414): describes how this server is
 * configured.
 */
export async function handleMetadata(
  _request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const { options, grants, responses } = context
  const at = (path: string) => `${options.issuerUrl.origin}${options.basePath}${path}`
  const document: Record<string, unknown> = {
    issuer: options.issuer,
    authorization_endpoint: at('/authorize'),
    token_endpoint: at('/token'),
    revocation_endpoint: at('/revoke'),
    introspection_endpoint: at('/introspect'),
    jwks_uri: `${options.issuerUrl.origin}${buildJwksPath(options.issuerUrl)}`,
    scopes_supported: [...options.scopeNames],
    response_types_supported: [...responses.keys()],
    response_modes_supported: Object.keys(responseModes),
    grant_types_supported: [...grants.keys()],
    ...authenticationMetadata(context),
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    ...(options.hasResources && {
      protected_resources: [...options.resources.others.keys()],
    }),
  }
  for (const part of [...grants.values(), ...context.features.all]) {
    addTo(document, part.metadata?.(context) ?? {})
  }
  return jsonResponse(document, 200, publicFor(CACHE_SECONDS))
}

/**
 * Lists the client authentication methods. `none` is not listed by default: a public client only
 * names itself, and PKCE authenticates nothing but the code. The features with which clients
 * register themselves add it, since such clients choose from this list.
 */
function authenticationMetadata(context: ServerContext): Record<string, unknown> {
  const { features } = context
  const methods = listOfferedAuthMethods(context)
  const algorithms = new Set(features.authenticators.flatMap((each) => each.algorithms ?? []))
  const endpoints = [
    { name: 'token', supported: methods },
    { name: 'revocation', supported: methods },
    // Public clients cannot introspect tokens.
    { name: 'introspection', supported: methods.filter((method) => method !== 'none') },
  ]
  return Object.fromEntries(
    endpoints.flatMap(({ name, supported }) => [
      [`${name}_endpoint_auth_methods_supported`, supported],
      ...(algorithms.size > 0
        ? [[`${name}_endpoint_auth_signing_alg_values_supported`, [...algorithms]]]
        : []),
    ]),
  )
}

/**
 * Merges a part into the document. A feature's `false` means only that this feature does not add
 * the capability, so it never overwrites the value of another feature.
 */
function addTo(document: Record<string, unknown>, part: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(part)) {
    if (value !== false || document[name] === undefined) document[name] = value
  }
}

export function buildJwksPath(issuer: URL): string {
  return `${issuer.pathname === '/' ? '' : issuer.pathname}/.well-known/jwks.json`
}

/**
 * Returns the path of the server's metadata: `/.well-known/oauth-authorization-server`, followed by
 * the path of the issuer (RFC 8414 §3.1).
 */
export function buildMetadataPath(issuer: URL): string {
  return `/.well-known/oauth-authorization-server${issuer.pathname === '/' ? '' : issuer.pathname}`
}

/**
 * Handles GET /.well-known/jwks.json. Lists the public signing keys, including future and former
 * ones, until they are revoked.
 */
export async function handleJwks(
  _request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const keys = context.keys.all().map((key) => ({
    ...key.publicJwk,
    kid: key.kid,
    alg: key.algorithm,
    use: 'sig',
  }))
  // A cached key set must have expired before the next key starts to sign.
  const maxAge = Math.min(CACHE_SECONDS, Math.floor(context.options.keyPublishedAheadSeconds / 2))
  return jsonResponse({ keys }, 200, publicFor(maxAge))
}
