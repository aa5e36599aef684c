import type { ServerContext } from './context.ts'
import { authorize } from './endpoints/authorize.ts'
import {
  createClient,
  deleteClient,
  listClients,
  rotateClientSecret,
  updateClient,
} from './endpoints/clients.ts'
import { decide, deny } from './endpoints/decide.ts'
import { introspect } from './endpoints/introspect.ts'
import { jwks, jwksPath, metadata, metadataPath } from './endpoints/metadata.ts'
import { createPersonal, deletePersonal, listPersonal } from './endpoints/personal-access-tokens.ts'
import { revoke } from './endpoints/revoke.ts'
import { listScopes } from './endpoints/scopes.ts'
import { stylesheet } from './endpoints/stylesheet.ts'
import { token } from './endpoints/token.ts'
import { refreshCookie } from './endpoints/token-refresh.ts'
import { deleteToken, listTokens } from './endpoints/tokens.ts'
import type { HttpRequest, Reply } from './http/exchange.ts'
import type { ResolvedOptions } from './options.ts'

export type Endpoint = (request: HttpRequest, context: ServerContext, id: string) => Promise<Reply>

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the base path; `{id}` stands for one segment. */
  readonly path: string
  readonly endpoint: Endpoint
}

export const routes: readonly Route[] = [
  { method: 'GET', path: '/authorize', endpoint: authorize },
  { method: 'POST', path: '/authorize', endpoint: decide },
  { method: 'DELETE', path: '/authorize', endpoint: deny },
  { method: 'POST', path: '/token', endpoint: token },
  { method: 'POST', path: '/token/refresh', endpoint: refreshCookie },
  { method: 'GET', path: '/tokens', endpoint: listTokens },
  { method: 'DELETE', path: '/tokens/{id}', endpoint: deleteToken },
  { method: 'GET', path: '/clients', endpoint: listClients },
  { method: 'POST', path: '/clients', endpoint: createClient },
  { method: 'PUT', path: '/clients/{id}', endpoint: updateClient },
  { method: 'DELETE', path: '/clients/{id}', endpoint: deleteClient },
  { method: 'POST', path: '/clients/{id}/secret', endpoint: rotateClientSecret },
  { method: 'GET', path: '/scopes', endpoint: listScopes },
  { method: 'GET', path: '/personal-access-tokens', endpoint: listPersonal },
  { method: 'POST', path: '/personal-access-tokens', endpoint: createPersonal },
  { method: 'DELETE', path: '/personal-access-tokens/{id}', endpoint: deletePersonal },
  { method: 'POST', path: '/revoke', endpoint: revoke },
  { method: 'POST', path: '/introspect', endpoint: introspect },
  { method: 'GET', path: '/pages.css', endpoint: stylesheet },
]

export interface Match {
  /** By method; another one is a 405. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
  readonly id: string
}

export interface Router {
  match(path: string): Match | null
  readonly paths: readonly string[]
}

const ID = /^[\w-]{1,64}$/

/** Paths are compared as they were sent, so that no spelling of one reaches another's endpoint. */
export function createRouter(options: ResolvedOptions): Router {
  const table = new Map<string, Map<string, Endpoint>>()
  const add = (path: string, method: string, endpoint: Endpoint) => {
    table.set(path, (table.get(path) ?? new Map()).set(method, endpoint))
  }
  for (const route of routes) add(`${options.basePath}${route.path}`, route.method, route.endpoint)
  add(metadataPath(options.issuerUrl), 'GET', metadata)
  add(jwksPath(options.issuerUrl), 'GET', jwks)

  const hasId = ([path]: readonly [string, unknown]) => path.includes('{id}')
  const withId = [...table].filter(hasId)
  const idPatterns = withId.map(([path, endpoints]) => {
    const [before = '', after = ''] = path.split('{id}')
    return { endpoints, before, after }
  })

  const withoutId = [...table].filter((entry) => !hasId(entry))
  const fixed = new Map(withoutId.map(([path, endpoints]) => [path, { endpoints, id: '' }]))

  function match(path: string): Match | null {
    return fixed.get(path) ?? matchWithId(path)
  }

  function matchWithId(path: string): Match | null {
    for (const { endpoints, before, after } of idPatterns) {
      if (!path.startsWith(before) || !path.endsWith(after)) continue
      const id = path.slice(before.length, after ? -after.length : undefined)
      if (ID.test(id)) return { endpoints, id }
    }
    return null
  }

  return { match, paths: [...table.keys()] }
}
