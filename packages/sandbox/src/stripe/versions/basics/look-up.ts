import { copyJson } from '../../../core/store/copy-json.ts'
import { render } from '../../state/render.ts'
import type { Kind, Rows } from '../../state/rows.ts'
import type { Tables } from '../../state/tables.ts'
import type { WireObject } from '../../wire/wire-object.ts'

/** Returns the object with an id, rendered in the current API version. `null` if there is none. */
export function lookUp<K extends Kind>(kind: K, id: unknown, tables: Tables): WireObject | null {
  const row = typeof id === 'string' ? (tables[kind].get(id) as Rows[K] | undefined) : undefined
  return row ? copyJson(render(kind, row, tables)) : null
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
