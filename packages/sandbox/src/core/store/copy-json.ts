/**
 * Makes a deep copy of plain JSON. Leaves out undefined values, as JSON does. `structuredClone`
 * takes seven times as long, because it copies the text of every string.
 */
export function copyJson<T>(value: T): T {
  return copy(value) as T
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  // V8 copies a whole object much faster than field by field, and the copy is smaller.
  const copied: Record<string, unknown> = { ...value }
  for (const key in copied) {
    const inner = copied[key]
    if (inner === undefined) return copyFields(value)
    if (typeof inner === 'object' && inner !== null) copied[key] = copy(inner)
  }
  return copied
}

function copyFields(value: object): unknown {
  const copied: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue
    // Metadata may contain any key, and assigning to this one would set the prototype.
    if (key === '__proto__') Object.defineProperty(copied, key, ownValue(copy(inner)))
    else copied[key] = copy(inner)
  }
  return copied
}

function ownValue(value: unknown): PropertyDescriptor {
  return { value, configurable: true, enumerable: true, writable: true }
}
