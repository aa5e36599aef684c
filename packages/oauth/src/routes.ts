import {
  createRouter,
  type HttpRequest,
  type HttpResponse,
  type Route,
  type Router,
} from '@tollgate/http'
import type { ServerContext } from './context.ts'
import { handleAuthorizationRequest } from './endpoints/authorize.ts'
import {
  createClient,
  deleteClient,
  listClients,
  rotateClientSecret,
  updateClient,
} from './endpoints/clients.ts'
import { handleDenial, postAuthorize } from './endpoints/decide.ts'
import { handleIntrospection } from './endpoints/introspect.ts'
import {
  buildJwksPath,
  buildMetadataPath,
  handleJwks,
  handleMetadata,
} from './endpoints/metadata.ts'
import {
  createPersonalToken,
  deletePersonalToken,
  listPersonalTokens,
} from './endpoints/personal-access-tokens.ts'
import { createResourceMetadataHandler, mapResourcesByPath } from './endpoints/resource-metadata.ts'
import { handleRevocation } from './endpoints/revoke.ts'
import { listScopes } from './endpoints/scopes.ts'
import { handleStylesheet } from './endpoints/stylesheet.ts'
import { handleTokenRequest } from './endpoints/token.ts'
import { refreshCookie } from './endpoints/token-refresh.ts'
import { deleteToken, listTokens } from './endpoints/tokens.ts'
import type { FeatureRoute } from './grants/grant.ts'
import type { ResolvedOptions } from './options.ts'

export type EndpointHandler = (
  request: HttpRequest,
  context: ServerContext,
  id: string,
) => Promise<HttpResponse>

export interface EndpointRoute extends Route, Pick<FeatureRoute, 'openTo' | 'needsClock'> {
  readonly endpoint: EndpointHandler
}

/** Whether the route responds 503 while the clock of this process is not trusted to be right. */
export function needsClock({ method, needsClock }: EndpointRoute): boolean {
  return needsClock ?? (method === 'POST' || method === 'PUT')
}

/** The routes of every server, relative to the base path. */
export const routes: readonly EndpointRoute[] = [
  // A HEAD request must not issue a code or store a pending approval.
  {
    method: 'GET',
    path: '/authorize',
    endpoint: handleAuthorizationRequest,
    answersHead: false,
    needsClock: true,
  },
  { method: 'POST', path: '/authorize', endpoint: postAuthorize },
  { method: 'DELETE', path: '/authorize', endpoint: handleDenial },
  { method: 'POST', path: '/token', endpoint: handleTokenRequest, openTo: 'clients' },
  { method: 'POST', path: '/token/refresh', endpoint: refreshCookie },
  { method: 'GET', path: '/tokens', endpoint: listTokens },
  { method: 'DELETE', path: '/tokens/{id}', endpoint: deleteToken },
  { method: 'GET', path: '/clients', endpoint: listClients },
  { method: 'POST', path: '/clients', endpoint: createClient },
  { method: 'PUT', path: '/clients/{id}', endpoint: updateClient },
  { method: 'DELETE', path: '/clients/{id}', endpoint: deleteClient },
  { method: 'POST', path: '/clients/{id}/secret', endpoint: rotateClientSecret },
  { method: 'GET', path: '/scopes', endpoint: listScopes },
  { method: 'GET', path: '/personal-access-tokens', endpoint: listPersonalTokens },
  { method: 'POST', path: '/personal-access-tokens', endpoint: createPersonalToken },
  { method: 'DELETE', path: '/personal-access-tokens/{id}', endpoint: deletePersonalToken },
  {
    method: 'POST',
    path: '/revoke',
    endpoint: handleRevocation,
    openTo: 'clients',
    needsClock: false,
  },
  { method: 'POST', path: '/introspect', endpoint: handleIntrospection, needsClock: false },
  { method: 'GET', path: '/pages.css', endpoint: handleStylesheet },
]

export function createOAuthRouter({
  basePath,
  issuerUrl,
  grants,
  features,
  hasResources,
  resources,
}: Pick<
  ResolvedOptions,
  'basePath' | 'issuerUrl' | 'grants' | 'features' | 'hasResources' | 'resources'
>): Router<EndpointRoute> {
  const ofResources = hasResources ? [...mapResourcesByPath(resources)] : []
  const ofFeatures = [...grants, ...features].flatMap(({ routes = [] }) => routes)
  const metadataPaths = new Set([
    buildMetadataPath(issuerUrl),
    ...features.flatMap((feature) => feature.metadataPaths?.(issuerUrl) ?? []),
  ])
  return createRouter<EndpointRoute>([
    ...[...routes, ...ofFeatures].map((route) => ({ ...route, path: `${basePath}${route.path}` })),
    ...[...metadataPaths].map((path) => publicRoute(path, handleMetadata)),
    ...ofResources.map(([path, resource]) =>
      publicRoute(path, createResourceMetadataHandler(resource)),
    ),
    publicRoute(buildJwksPath(issuerUrl), handleJwks),
  ])
}

function publicRoute(path: string, endpoint: EndpointHandler): EndpointRoute {
  return { method: 'GET', path, endpoint, openTo: 'anyone' }
}
