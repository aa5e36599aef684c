/** For options of a provider. The message never repeats a value: it may be a key with a blank at its end. */
export function requireSecret(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '' && value === value.trim()) return
  throw new TypeError(`${name} is missing, blank or has blanks around it.`)
}
