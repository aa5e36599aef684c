import { copyJson } from '../../../core/store/copy-json.ts'
import { renderRow } from '../../state/render.ts'
import type { RowKind, StripeRows } from '../../state/rows.ts'
import type { StripeTables } from '../../state/tables.ts'
import type { WireObject } from '../../wire/wire-object.ts'

/** Returns the object with an id, rendered in the current API version. `null` if there is none. */
export function renderObjectById<K extends RowKind>(
  kind: K,
  id: unknown,
  tables: StripeTables,
): WireObject | null {
  const row =
    typeof id === 'string' ? (tables[kind].get(id) as StripeRows[K] | undefined) : undefined
  return row ? copyJson(renderRow(kind, row, tables)) : null
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
