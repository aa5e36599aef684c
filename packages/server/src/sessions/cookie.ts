/** The value of a cookie, or null when it is absent or sent twice: then nobody can say which is ours. */
export function readCookie(header: string | null, name: string): string | null {
  const values = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1))
  return values.length === 1 ? (values[0] ?? null) : null
}

export function serializeCookie(cookie: {
  readonly name: string
  readonly value: string
  readonly maxAgeSeconds: number
  readonly secure: boolean
}): string {
  const { name, value, maxAgeSeconds, secure } = cookie
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
}
