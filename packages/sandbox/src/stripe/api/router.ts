import { ROUTES } from '../wire/contract.generated.ts'
import type { Operation, Operations } from './operation.ts'

export interface Route {
  readonly operation: Operation
  readonly name: string
  /** The parameters' type, in the contract's nodes. */
  readonly params: number
}

interface Branch {
  readonly fixed: Map<string, Branch>
  wildcard: Branch | null
  readonly methods: Map<string, Route>
}

/** Finds the operation of a method and path; a fixed segment wins over an id. */
export class Router {
  readonly #root = newBranch()

  constructor(operations: Operations) {
    for (const [method, path, name, params] of ROUTES) {
      const operation = operations[name]
      if (!operation) continue
      let branch = this.#root
      for (const segment of path.split('/').slice(1)) branch = grow(branch, segment)
      branch.methods.set(method, { operation, name, params })
    }
  }

  find(method: string, path: string): { route: Route; ids: string[] } | null {
    let branch = this.#root
    const ids: string[] = []
    for (const segment of path.split('/').slice(1)) {
      const fixed = branch.fixed.get(segment)
      if (fixed) {
        branch = fixed
        continue
      }
      if (!branch.wildcard || segment === '') return null
      branch = branch.wildcard
      ids.push(decodeSegment(segment))
    }
    const route = branch.methods.get(method)
    return route ? { route, ids } : null
  }
}

function newBranch(): Branch {
  return { fixed: new Map(), wildcard: null, methods: new Map() }
}

function grow(branch: Branch, segment: string): Branch {
  if (segment.startsWith(':')) {
    branch.wildcard ??= newBranch()
    return branch.wildcard
  }
  let next = branch.fixed.get(segment)
  if (!next) {
    next = newBranch()
    branch.fixed.set(segment, next)
  }
  return next
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
