import { createInvalidRequestFault } from './errors.ts'

/**
 * Creates a function that reads the field of an object at a path such as
 * `parent.subscription_details.subscription`. The function returns `undefined` if there is no
 * value.
 */
export function createFieldReader(path: string): (object: object) => unknown {
  const [first = '', ...rest] = path.split('.')
  if (rest.length === 0) return (object) => getOwnField(object, first)
  return (object) => rest.reduce(getOwnField, getOwnField(object, first))
}

/**
 * Returns the value of one of the object's own fields. Inherited names such as `constructor` do not
 * count.
 */
export function getOwnField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

/**
 * Type that a field gets when a parameter's value is stored in it. An empty value clears the field
 * and becomes `null`.
 */
export type GivenValue<V> = Exclude<V, '' | undefined>

/**
 * Returns those parameters among `names` that were sent, as fields to store. Empty values become
 * `null`.
 */
export function pickSentFields<P extends object, N extends keyof P>(
  params: P | undefined,
  ...names: readonly N[]
): { [M in N]?: GivenValue<P[M]> } {
  const fields: { [M in N]?: GivenValue<P[M]> } = {}
  for (const name of names) {
    const value = params?.[name]
    if (value !== undefined) fields[name] = (value === '' ? null : value) as GivenValue<P[N]>
  }
  return fields
}

type MetadataParams = '' | null | Readonly<Record<string, string | number | null>> | undefined

/**
 * Merges the metadata of a call into existing metadata. An empty value removes its key; an empty
 * string instead of an object removes all keys.
 */
export function mergeMetadata(
  storedMetadata: Readonly<Record<string, string>> | null,
  params: MetadataParams,
): Record<string, string> {
  if (params === undefined) return { ...storedMetadata }
  if (params === '' || params === null) return {}
  const merged: Record<string, string> = { ...storedMetadata }
  for (const [key, value] of Object.entries(params)) {
    if (key.length > 40) {
      throw createInvalidRequestFault(
        `Metadata keys must be 40 characters or less. ${key} is ${key.length} characters.`,
        `metadata[${key}]`,
      )
    }
    const text = String(value ?? '')
    if (text.length > 500) {
      throw createInvalidRequestFault(
        `Metadata values must be 500 characters or less.`,
        `metadata[${key}]`,
      )
    }
    if (text === '') delete merged[key]
    else merged[key] = text
  }
  if (Object.keys(merged).length > 50) {
    throw createInvalidRequestFault('Metadata can have at most 50 keys.', 'metadata')
  }
  return merged
}
