/**
 * The route that matches a request, with the values of the path's `:name` segments, still
 * percent-encoded.
 */
export interface MatchedRoute<T> {
  readonly target: T
  readonly params: Readonly<Record<string, string>>
}

interface Leaf<T> {
  readonly target: T
  readonly names: readonly string[]
}

interface Branch<T> {
  readonly fixed: Map<string, Branch<T>>
  named: Branch<T> | null
  readonly methods: Map<string, Leaf<T>>
}

/**
 * Finds the target for a method and path. Routes with a fixed segment take precedence over those
 * with a `:name` segment.
 */
export class PathRouter<T> {
  readonly #root: Branch<T> = newBranch()

  /** Adds a route to a target. `path` is a pattern such as `/v1/customers/:id`. */
  add(method: string, path: string, target: T): void {
    let branch = this.#root
    const names: string[] = []
    for (const segment of segmentsOf(path)) {
      if (segment.startsWith(':')) names.push(segment.slice(1))
      branch = grow(branch, segment)
    }
    branch.methods.set(method, { target, names })
  }

  find(method: string, path: string): MatchedRoute<T> | null {
    return findBelow(this.#root, method, segmentsOf(path), [])
  }
}

function findBelow<T>(
  branch: Branch<T>,
  method: string,
  segments: readonly string[],
  values: readonly string[],
): MatchedRoute<T> | null {
  const [segment, ...rest] = segments
  if (segment === undefined) {
    const leaf = branch.methods.get(method)
    if (!leaf) return null
    const params = leaf.names.map((name, at) => [name, values[at] ?? ''] as const)
    return { target: leaf.target, params: Object.fromEntries(params) }
  }
  const fixed = branch.fixed.get(segment)
  const found = fixed ? findBelow(fixed, method, rest, values) : null
  if (found || !branch.named || segment === '') return found
  return findBelow(branch.named, method, rest, [...values, segment])
}

function segmentsOf(path: string): string[] {
  return path.split('/').slice(1)
}

function newBranch<T>(): Branch<T> {
  return { fixed: new Map(), named: null, methods: new Map() }
}

function grow<T>(branch: Branch<T>, segment: string): Branch<T> {
  if (segment.startsWith(':')) {
    branch.named ??= newBranch()
    return branch.named
  }
  let next = branch.fixed.get(segment)
  if (!next) {
    next = newBranch()
    branch.fixed.set(segment, next)
  }
  return next
}
