/**
 * The differences between two versions of a stored object. They can be applied to a third version,
 * where fields without a difference keep their value.
 */
export type RowChanges = Readonly<Record<string, FieldChange>>

type FieldChange =
  | { readonly to: unknown }
  | { readonly gone: true }
  | { readonly fields: RowChanges }
  | { readonly added: readonly string[]; readonly removed: readonly string[] }

type Row = Record<string, unknown>

export function diffRows(before: object, after: object): RowChanges {
  const changes: Record<string, FieldChange> = {}
  const [old, now] = [before as Row, after as Row]
  for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const change = diffFields(old[name], now[name])
    if (change) changes[name] = change
  }
  return changes
}

function diffFields(old: unknown, now: unknown): FieldChange | null {
  if (JSON.stringify(old) === JSON.stringify(now)) return null
  if (now === undefined) return { gone: true }
  if (isRow(old) && isRow(now)) return { fields: diffRows(old, now) }
  if (isIdList(old) && isIdList(now)) {
    const added = now.filter((id) => !old.includes(id))
    return { added, removed: old.filter((id) => !now.includes(id)) }
  }
  return { to: now }
}

export function applyRowChanges(target: object, changes: RowChanges): void {
  const row = target as Row
  for (const [name, change] of Object.entries(changes)) {
    const value = row[name]
    if ('to' in change) row[name] = change.to
    else if ('gone' in change) delete row[name]
    else if ('fields' in change) {
      // Copied, because earlier events may still reference the old object.
      const fields = isRow(value) ? { ...value } : {}
      applyRowChanges(fields, change.fields)
      row[name] = fields
    } else {
      const ids = isIdList(value) ? value : []
      const kept = ids.filter((id) => !change.removed.includes(id) && !change.added.includes(id))
      row[name] = [...kept, ...change.added]
    }
  }
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isIdList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
