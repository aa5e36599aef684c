/**
 * A field that differs between two versions of an object. A value of `undefined` means that the
 * field did not exist in that version.
 */
export interface ChangedField {
  /** Path of the changed field, such as `items.data.0.quantity`. */
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** Returns the fields that differ between two versions of an object. */
export function diffObjects(before: unknown, after: unknown, path = ''): ChangedField[] {
  if (isSame(before, after)) return []
  if (!isContainer(before) || !isContainer(after)) return [{ path, before, after }]
  if (Array.isArray(before) !== Array.isArray(after)) return [{ path, before, after }]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) =>
    diffObjects(
      valueAt(before, name),
      valueAt(after, name),
      path === '' ? name : `${path}.${name}`,
    ),
  )
}

/**
 * Restores the previous version of an object from its present version and the old values of the
 * changed fields.
 */
export function undoChanges(
  after: Readonly<Record<string, unknown>>,
  previous: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const before: Record<string, unknown> = { ...after }
  for (const [name, old] of Object.entries(previous)) {
    const now = after[name]
    const nested = isPlain(old) && isPlain(now)
    before[name] = nested ? undoChanges(now, old) : old
  }
  return before
}

type Container = readonly unknown[] | Readonly<Record<string, unknown>>

function valueAt(container: Container, name: string): unknown {
  return Object.hasOwn(container, name) ? (container as Record<string, unknown>)[name] : undefined
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  return isContainer(a) && isContainer(b) && JSON.stringify(a) === JSON.stringify(b)
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return isContainer(value) && !Array.isArray(value)
}
