import type { BraintreeContext } from '../state/context.ts'
import type { XmlValue } from '../wire/xml.ts'

export interface Call {
  readonly context: BraintreeContext
  /** The `:name` segments of the route. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The parsed body; undefined when there was none. */
  readonly body: unknown
}

/** A document to answer with, or null for an empty 200. */
export type Answer = {
  readonly root: string
  readonly value: XmlValue
  readonly status?: 200 | 201
} | null

export type Handler = (call: Call) => Answer

/** `GET /:id` and so on, below the resource's own segment, to what answers it. */
export type Resource = Readonly<Record<string, Handler>>

interface Route {
  readonly method: string
  readonly segments: readonly string[]
  readonly handler: Handler
}

/** Finds the handler of a path. A fixed segment is tried before a `:name` one. */
export class Router {
  readonly #routes = new Map<string, Route[]>()

  constructor(resources: Readonly<Record<string, Resource>>) {
    for (const [name, resource] of Object.entries(resources)) {
      const routes = Object.entries(resource).map(([key, handler]) => toRoute(key, handler))
      routes.sort((a, b) => countNamed(a) - countNamed(b))
      this.#routes.set(name, routes)
    }
  }

  find(method: string, path: string): { handler: Handler; params: Record<string, string> } | null {
    const [name = '', ...segments] = path.split('/').filter(Boolean)
    for (const route of this.#routes.get(name) ?? []) {
      if (route.method !== method) continue
      const params = match(route.segments, segments)
      if (params) return { handler: route.handler, params }
    }
    return null
  }
}

function toRoute(key: string, handler: Handler): Route {
  const [method = '', path = ''] = key.split(' ')
  return { method, segments: path.split('/').filter(Boolean), handler }
}

function countNamed(route: Route): number {
  return route.segments.filter((segment) => segment.startsWith(':')).length
}

function match(pattern: readonly string[], segments: string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [i, part] of pattern.entries()) {
    const segment = segments[i] ?? ''
    if (part.startsWith(':')) params[part.slice(1)] = segment
    else if (part !== segment) return null
  }
  return params
}
