/**
 * Whether a post comes from a page of ours. Browsers name the origin of every post; a program that
 * names none carries no cookie of a victim either.
 */
export function isSameOrigin(request: Request, url: string): boolean {
  const origin = request.headers.get('origin')
  if (origin !== null) return origin === new URL(url).origin
  const site = request.headers.get('sec-fetch-site')
  return site === null || site === 'same-origin'
}

/** Never another host: `//evil.example` and `/\evil.example` are addresses elsewhere (threat G8). */
export function localPath(path: string | null | undefined, fallback = '/'): string {
  if (!path || path.length > 8192 || /[\p{Cc}\\]/u.test(path)) return fallback
  return /^\/(?!\/)/.test(path) ? path : fallback
}
