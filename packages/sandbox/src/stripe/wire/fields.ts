/** Reads the value at a path of names, such as `parent.subscription_details.subscription`; undefined where there is none. */
export function fieldReader(path: string): (object: object) => unknown {
  const [first = '', ...rest] = path.split('.')
  if (rest.length === 0) return (object) => ownField(object, first)
  return (object) => rest.reduce(ownField, ownField(object, first))
}

/** A name such as `constructor` is no field unless the object has it itself. */
export function ownField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}
