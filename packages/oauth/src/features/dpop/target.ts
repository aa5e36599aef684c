/**
 * Whether a proof was made for this address (RFC 9449 §4.3): query and fragment do not count, nor how the same
 * address can be spelled (RFC 3986 §6.2.2 and §6.2.3). `bases` are what may stand before the path.
 */
export function namesAddress(htu: string, bases: readonly string[], path: string): boolean {
  if (!path.startsWith('/')) return false
  if (bases.some((base) => htu === base + path)) return true
  const named = canonical(htu)
  return named !== null && bases.some((base) => canonical(base + path) === named)
}

function canonical(text: string): string | null {
  if (!URL.canParse(text)) return null
  const { protocol, username, password, origin, pathname } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return null
  if (username !== '' || password !== '') return null
  return origin + pathname.replace(/%[0-9a-f]{2}/gi, plainly)
}

/** `%7E` is `~`; what has a meaning of its own stays escaped, in capital letters. */
function plainly(escaped: string): string {
  const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : escaped.toUpperCase()
}
