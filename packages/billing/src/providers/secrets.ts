/**
 * Validates a secret in a provider's options. The message never contains the value, which may be a
 * key with a trailing space.
 * @throws TypeError if it is missing, or has spaces around it.
 */
export function requireSecret(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '' && value === value.trim()) return
  throw new TypeError(`${name} is missing, blank or has spaces around it.`)
}
