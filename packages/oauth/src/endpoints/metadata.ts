import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { responseModes } from '../authorization/response-modes.ts'
import { offeredMethods } from '../clients/authentication/offered-methods.ts'
import type { ServerContext } from '../context.ts'
import { json } from '../http/responses.ts'

const KEPT_SECONDS = 300

const publicFor = (seconds: number) => ({
  'cache-control': `public, max-age=${seconds}`,
  'access-control-allow-origin': '*',
})

/** GET /.well-known/oauth-authorization-server (RFC 8414): true to how this server is set up. */
export async function metadata(
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
    jwks_uri: `${options.issuerUrl.origin}${jwksPath(options.issuerUrl)}`,
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
  return json(document, 200, publicFor(KEPT_SECONDS))
}

/**
 * No `none` of its own: a public client names itself and proves the code by PKCE, which authenticates nobody. A
 * feature lists it where clients choose from what they read here.
 */
function authenticationMetadata(context: ServerContext): Record<string, unknown> {
  const { features } = context
  const methods = offeredMethods(context)
  const algorithms = new Set(features.authenticators.flatMap((each) => each.algorithms ?? []))
  const endpoints = [
    { name: 'token', supported: methods },
    { name: 'revocation', supported: methods },
    // Public clients cannot introspect.
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

/** A feature's `false` says that it does not bring this; another one may, listed before or after it. */
function addTo(document: Record<string, unknown>, part: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(part)) {
    if (value !== false || document[name] === undefined) document[name] = value
  }
}

export function jwksPath(issuer: URL): string {
  return `${issuer.pathname === '/' ? '' : issuer.pathname}/.well-known/jwks.json`
}

/** RFC 8414 §3.1: the well-known part comes first, the issuer's path after it. */
export function metadataPath(issuer: URL): string {
  return `/.well-known/oauth-authorization-server${issuer.pathname === '/' ? '' : issuer.pathname}`
}

/** GET /.well-known/jwks.json: next, present and former keys, until they are taken back. */
export async function jwks(_request: HttpRequest, context: ServerContext): Promise<HttpResponse> {
  const keys = context.keys.all().map((key) => ({
    ...key.publicJwk,
    kid: key.kid,
    alg: key.algorithm,
    use: 'sig',
  }))
  // A set that was kept must have gone before the next key signs.
  const kept = Math.min(KEPT_SECONDS, Math.floor(context.options.keyPublishedAheadSeconds / 2))
  return json({ keys }, 200, publicFor(kept))
}
