import { type MatchedRoute, PathRouter } from '../../core/router.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import type { StripeTables } from '../state/tables.ts'
import type { FormObject } from '../wire/form.ts'
import type { LegacyFeature } from '../wire/legacy-features.ts'
import type { WireObject } from '../wire/wire-object.ts'
import { isRecord } from './basics/look-up.ts'
import type { ObjectChange, VersionChange } from './basics/version-change.ts'

/**
 * Converts requests and responses between the current API version and an older one, by reverting
 * all changes since the older version.
 */
export class VersionConverter {
  /** API changes to revert, newest first. */
  readonly #changes: readonly VersionChange[]
  readonly #tables: StripeTables
  readonly #objects = new Map<string, ObjectChange[]>()
  readonly #expandable = new Map<string, string[]>()
  readonly #routes = new PathRouter<string>()
  /** Features that the older API version has and the current one does not. */
  readonly legacyFeatures: ReadonlySet<LegacyFeature>

  constructor(changes: readonly VersionChange[], tables: StripeTables) {
    this.#changes = changes
    this.#tables = tables
    this.legacyFeatures = new Set(changes.flatMap(({ removes }) => removes ?? []))
    for (const { objects = {}, expandable = {}, routes = {} } of changes) {
      for (const [kind, change] of Object.entries(objects)) push(this.#objects, kind, change)
      for (const [kind, fields] of Object.entries(expandable)) {
        for (const field of fields) push(this.#expandable, kind, field)
      }
      for (const [address, operation] of Object.entries(routes)) {
        const [method = '', path = ''] = address.split(' ')
        this.#routes.add(method, path, operation)
      }
    }
  }

  /**
   * Finds the operation for a path that exists in the older API version only. `null` if there is
   * none.
   */
  operationAt(method: string, path: string): MatchedRoute<string> | null {
    return this.#routes.find(method, path)
  }

  /** Converts the parameters of the older API version, in place, to current ones. */
  upgradeParams(operation: string, form: FormObject): void {
    for (let at = this.#changes.length - 1; at >= 0; at--) {
      this.#changes[at]?.params?.[operation]?.(form, this.#tables)
    }
  }

  /**
   * Removes from the form the parameters that exist only in the older API version, and returns the
   * ones that operations still read.
   */
  takeRemovedParams(operation: string, form: FormObject): Record<string, string> {
    const removed: Record<string, string> = {}
    for (const { removedParams } of this.#changes) {
      for (const name of removedParams?.[operation] ?? []) {
        const value = form[name]
        if (typeof value !== 'string') continue
        removed[name] = value
        delete form[name]
      }
    }
    return removed
  }

  /** Returns a copy of a response in the format of the older API version. */
  downgrade<T extends object>(response: T): T {
    const copy = copyJson(response)
    this.#walk(copy)
    return copy
  }

  /** Converts an event, in place, to the format of the older API version. */
  downgradeEvent(event: WireObject): void {
    const { data } = event
    if (!isRecord(data) || !isRecord(data.object)) return
    const { object: now, previous_attributes: previous } = data
    if (isRecord(previous)) {
      for (const change of this.#changes) {
        change.previous?.[String(now.object)]?.(previous, now as WireObject)
      }
      this.#walk(previous)
    }
    this.#walk(now)
  }

  /** Returns the fields of a kind of object that `expand` accepts in the older API version only. */
  expandable(kind: string): readonly string[] {
    return this.#expandable.get(kind) ?? []
  }

  #walk(node: unknown): void {
    if (Array.isArray(node)) {
      for (const each of node) this.#walk(each)
      return
    }
    // Stored events keep the version they were created with.
    if (!isRecord(node) || node.object === 'event') return
    if (typeof node.object === 'string' && !isTombstone(node)) {
      for (const change of this.#objects.get(node.object) ?? []) {
        change(node as WireObject, this.#tables)
      }
    }
    for (const key in node) {
      // Metadata may contain any key, including `object`.
      if (key !== 'metadata') this.#walk(node[key])
    }
  }
}

/** Whether the node is the remainder `{ id, object, deleted }` of a deleted object. */
function isTombstone(node: Record<string, unknown>): boolean {
  return node.deleted === true && Object.keys(node).length === 3
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const known = map.get(key)
  if (known) known.push(value)
  else map.set(key, [value])
}
