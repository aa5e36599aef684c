import { invalidRequest } from './errors.ts'

type MetadataParams = '' | null | Readonly<Record<string, string | number | null>> | undefined

/** Keys are added and replaced one by one; an empty value removes its key, an empty whole all. */
export function mergeMetadata(
  before: Readonly<Record<string, string>> | null,
  params: MetadataParams,
): Record<string, string> {
  if (params === undefined) return { ...before }
  if (params === '' || params === null) return {}
  const merged: Record<string, string> = { ...before }
  for (const [key, value] of Object.entries(params)) {
    if (key.length > 40) {
      throw invalidRequest(
        `Metadata keys must be 40 characters or less. ${key} is ${key.length} characters.`,
        `metadata[${key}]`,
      )
    }
    const text = String(value ?? '')
    if (text.length > 500) {
      throw invalidRequest(`Metadata values must be 500 characters or less.`, `metadata[${key}]`)
    }
    if (text === '') delete merged[key]
    else merged[key] = text
  }
  if (Object.keys(merged).length > 50) {
    throw invalidRequest('Metadata can have at most 50 keys.', 'metadata')
  }
  return merged
}
