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
  handleClientCreation,
  handleClientDeletion,
  handleClientList,
  handleClientUpdate,
  rotateClientSecret,
} from './endpoints/clients.ts'
import { handleAuthorizationForm, handleDenial } from './endpoints/decide.ts'
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
import { handleScopeList } from './endpoints/scopes.ts'
import { handleStylesheet } from './endpoints/stylesheet.ts'
import { handleTokenRequest } from './endpoints/token.ts'
import { handleCookieRefresh } from './endpoints/token-refresh.ts'
import { handleTokenDeletion, handleTokenList } from './endpoints/tokens.ts'
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
  { method: 'POST', path: '/authorize', endpoint: handleAuthorizationForm },
  { method: 'DELETE', path: '/authorize', endpoint: handleDenial },
  { method: 'POST', path: '/token', endpoint: handleTokenRequest, openTo: 'clients' },
  { method: 'POST', path: '/token/refresh', endpoint: handleCookieRefresh },
  { method: 'GET', path: '/tokens', endpoint: handleTokenList },
  { method: 'DELETE', path: '/tokens/{id}', endpoint: handleTokenDeletion },
  { method: 'GET', path: '/clients', endpoint: handleClientList },
  { method: 'POST', path: '/clients', endpoint: handleClientCreation },
  { method: 'PUT', path: '/clients/{id}', endpoint: handleClientUpdate },
  { method: 'DELETE', path: '/clients/{id}', endpoint: handleClientDeletion },
  { method: 'POST', path: '/clients/{id}/secret', endpoint: rotateClientSecret },
  { method: 'GET', path: '/scopes', endpoint: handleScopeList },
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
