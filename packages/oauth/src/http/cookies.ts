/**
 * Reads a cookie. Returns `null` if it is absent or was sent twice, because then it is unclear
 * which one is ours.
 */
export function readCookie(header: string | null | undefined, name: string): string | null {
  if (!header?.includes(name)) return null
  let found: string | null = null
  for (const part of header.split(';')) {
    const split = part.indexOf('=')
    if (split < 0 || part.slice(0, split).trim() !== name) continue
    if (found !== null) return null
    found = part.slice(split + 1).trim()
  }
  return found
}

export interface CookieAttributes {
  readonly name: string
  readonly path: string
  readonly secure: boolean
}

export function serializeCookie(
  cookie: CookieAttributes,
  value: string,
  maxAgeSeconds: number,
): string {
  const secure = cookie.secure ? '; Secure' : ''
  return `${cookie.name}=${value}; Path=${cookie.path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`
}
