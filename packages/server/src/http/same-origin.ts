/**
 * Whether a POST comes from one of the service's pages, or from a program that sends no `Origin`
 * header. Browsers always send that header with a POST, with the value `null` from a page with the
 * referrer policy `no-referrer`.
 */
export function isSameOrigin(request: Request, url: string): boolean {
  const origin = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  if (origin === 'null') return site === 'same-origin'
  if (origin !== null) return origin === new URL(url).origin
  return site === null || site === 'same-origin'
}

/**
 * Returns the path if it leads to this host, else the fallback. Values such as `//evil.example` and
 * `/\evil.example` lead to another host (threat G8).
 */
export function localPath(path: string | null | undefined, fallback = '/'): string {
  if (!path || path.length > 8192 || /[\p{Cc}\\]/u.test(path)) return fallback
  return /^\/(?!\/)/.test(path) ? path : fallback
}
