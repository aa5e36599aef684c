/**
 * Writes a JSON value the same way whatever the order of its members (RFC 8785), so that equal
 * values have equal hashes in every language.
 */
export function formatCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatCanonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${formatCanonicalJson(member)}`)
  return `{${members.join(',')}}`
}
