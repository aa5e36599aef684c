/**
 * Returns the value of a cookie. `null` if the cookie is missing, or was sent twice and is
 * therefore ambiguous.
 */
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

const AN_HOUR = 3600

/**
 * The test cookie that sign-in pages set. If the form is sent without it, the browser stores no
 * cookies of this service, because they are blocked or the page was not opened by https. Signing in
 * would then lead back to the same page.
 */
export const testCookie = {
  field: 'cookies',
  /** Returns the `Set-Cookie` header of the page. */
  header: (url: string): string =>
    serializeCookie({
      name: nameAt(url),
      value: '1',
      maxAgeSeconds: AN_HOUR,
      secure: isHttps(url),
    }),
  /** Whether the form comes from a page that set the cookie, but the cookie was not sent. */
  isMissing: (form: URLSearchParams, cookieHeader: string | null, url: string): boolean =>
    form.has(testCookie.field) && readCookie(cookieHeader, nameAt(url)) === null,
}

function isHttps(url: string): boolean {
  return url.startsWith('https:')
}

function nameAt(url: string): string {
  return isHttps(url) ? '__Host-tollgate_kept' : 'tollgate_kept'
}
