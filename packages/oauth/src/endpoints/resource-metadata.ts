import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import type { ResourceMetadataHint } from '../guard/guard.ts'
import { jsonResponse } from '../http/responses.ts'
import type { ResourceServer, ResourceServers } from '../resources/resources.ts'

const NAME = '/.well-known/oauth-protected-resource'

/**
 * Returns the path of the metadata of an API: `/.well-known/oauth-protected-resource`, followed by
 * the path of the API (RFC 9728 §3.1). `null` if the URI of the API is not an http or https URL.
 */
export function buildResourceMetadataPath({ uri }: Pick<ResourceServer, 'uri'>): string | null {
  if (!/^https?:/.test(uri)) return null
  const { pathname, search } = new URL(uri)
  return search ? null : `${NAME}${pathname === '/' ? '' : pathname}`
}

/**
 * Returns the URL of the API's metadata and the scopes to request, which guards add to the
 * `WWW-Authenticate` challenge for callers without a token. `null` if the URI of the API is not an
 * http or https URL.
 */
export function buildMetadataHint(resource: ResourceServer): ResourceMetadataHint | null {
  const path = buildResourceMetadataPath(resource)
  if (path === null) return null
  const { scopesToAskFor } = resource
  return { metadataUrl: `${new URL(resource.uri).origin}${path}`, scopesToAskFor }
}

/**
 * Maps metadata paths to APIs. If two APIs on different hosts have the same path, the first one
 * wins.
 */
export function mapResourcesByPath({
  own,
  others,
}: ResourceServers): ReadonlyMap<string, ResourceServer> {
  const paths = new Map<string, ResourceServer>()
  for (const resource of [...others.values(), own]) {
    const path = buildResourceMetadataPath(resource)
    if (path !== null && !paths.has(path)) paths.set(path, resource)
  }
  return paths
}

/** Creates the handler for GET /.well-known/oauth-protected-resource of one API (RFC 9728 §2). */
export function createResourceMetadataHandler(resource: ResourceServer) {
  return async (
    _request: HttpRequest,
    { options, features }: ServerContext,
  ): Promise<HttpResponse> => {
    const { identityScopes, scopeNames, machineScopeNames } = options
    const scopes = resource.scopes ?? [...scopeNames].filter((name) => !identityScopes.has(name))
    const document = {
      resource: resource.uri,
      authorization_servers: [options.issuer],
      scopes_supported: scopes.filter((name) => !machineScopeNames.has(name)),
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: features.keyProofs?.algorithms,
      resource_name: resource.name ?? undefined,
      resource_documentation: resource.documentation ?? undefined,
    }
    return jsonResponse(document, 200, {
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    })
  }
}
