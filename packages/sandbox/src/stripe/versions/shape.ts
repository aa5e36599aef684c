import { type Match, Router } from '../../core/router.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import type { Tables } from '../state/tables.ts'
import type { FormObject } from '../wire/form.ts'
import type { OldWay } from '../wire/old-ways.ts'
import type { WireObject } from '../wire/wire-object.ts'
import { isRecord } from './basics/look-up.ts'
import type { ObjectChange, VersionChange } from './basics/version-change.ts'

/** The API as older versions know it: all changes that came after them, taken back. */
export class Shape {
  /** Newest first. */
  readonly #changes: readonly VersionChange[]
  readonly #tables: Tables
  readonly #objects = new Map<string, ObjectChange[]>()
  readonly #expandable = new Map<string, string[]>()
  readonly #routes = new Router<string>()
  /** What calls may do that those of today may not. */
  readonly oldWays: ReadonlySet<OldWay>

  constructor(changes: readonly VersionChange[], tables: Tables) {
    this.#changes = changes
    this.#tables = tables
    this.oldWays = new Set(changes.flatMap(({ ends }) => ends ?? []))
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

  /** What does the work of an address that is gone; null for every other. */
  operationAt(method: string, path: string): Match<string> | null {
    return this.#routes.find(method, path)
  }

  /** Makes an older SDK's parameters what they are today. */
  updateParams(operation: string, form: FormObject): void {
    for (let at = this.#changes.length - 1; at >= 0; at--) {
      this.#changes[at]?.params?.[operation]?.(form, this.#tables)
    }
  }

  /** Takes what is no parameter today, and still means something, out of a form. */
  takeGone(operation: string, form: FormObject): Record<string, string> {
    const gone: Record<string, string> = {}
    for (const { takes } of this.#changes) {
      for (const name of takes?.[operation] ?? []) {
        const value = form[name]
        if (typeof value !== 'string') continue
        gone[name] = value
        delete form[name]
      }
    }
    return gone
  }

  /** A copy of a response, each object in it as it was. */
  takeBack<T extends object>(response: T): T {
    const copy = copyJson(response)
    this.#walk(copy)
    return copy
  }

  /** An event as it was. It is changed in place, because nobody else holds it. */
  takeBackEvent(event: WireObject): void {
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

  /** Fields of a kind that `expand` takes beside those of today. */
  expandable(kind: string): readonly string[] {
    return this.#expandable.get(kind) ?? []
  }

  #walk(node: unknown): void {
    if (Array.isArray(node)) {
      for (const each of node) this.#walk(each)
      return
    }
    // An event keeps the version it was told in.
    if (!isRecord(node) || node.object === 'event') return
    if (typeof node.object === 'string' && !isTombstone(node)) {
      for (const change of this.#objects.get(node.object) ?? []) {
        change(node as WireObject, this.#tables)
      }
    }
    for (const key in node) {
      // Metadata may use any name, `object` too.
      if (key !== 'metadata') this.#walk(node[key])
    }
  }
}

/** `{ id, object, deleted }` is all that is left of it. */
function isTombstone(node: Record<string, unknown>): boolean {
  return node.deleted === true && Object.keys(node).length === 3
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const known = map.get(key)
  if (known) known.push(value)
  else map.set(key, [value])
}
