/**
 * Whether a POST comes from one of the service's pages. Browsers send the origin with every POST; a
 * program without one does not send a victim's cookie either.
 */
export function isSameOrigin(request: Request, url: string): boolean {
  const origin = request.headers.get('origin')
  if (origin !== null) return origin === new URL(url).origin
  const site = request.headers.get('sec-fetch-site')
  return site === null || site === 'same-origin'
}

/**
 * Returns the path if it is on this host, else the fallback: `//evil.example` and `/\evil.example`
 * lead elsewhere (threat G8).
 */
export function localPath(path: string | null | undefined, fallback = '/'): string {
  if (!path || path.length > 8192 || /[\p{Cc}\\]/u.test(path)) return fallback
  return /^\/(?!\/)/.test(path) ? path : fallback
}
