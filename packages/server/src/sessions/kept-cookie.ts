import { readCookie, serializeCookie } from './cookie.ts'

const AN_HOUR = 3600

/**
 * Left by the pages where people sign in. A browser that sends their form without it keeps no cookies of ours, because
 * they are blocked or the address is not the https one: signing in would lead back to the same page, without a word.
 */
export const keptCookie = {
  field: 'cookies',
  /** The `Set-Cookie` header of the page. */
  header: (url: string): string =>
    serializeCookie({
      name: nameAt(url),
      value: '1',
      maxAgeSeconds: AN_HOUR,
      secure: isHttps(url),
    }),
  /** Whether this form came from such a page, and the cookie did not. */
  isMissing: (form: URLSearchParams, cookieHeader: string | null, url: string): boolean =>
    form.has(keptCookie.field) && readCookie(cookieHeader, nameAt(url)) === null,
}

function isHttps(url: string): boolean {
  return url.startsWith('https:')
}

function nameAt(url: string): string {
  return isHttps(url) ? '__Host-tollgate_kept' : 'tollgate_kept'
}
