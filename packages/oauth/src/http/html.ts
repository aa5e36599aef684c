import type { HttpResponse } from '@tollgate/http'
/** Creates a page whose policy forbids framing, scripts, other origins and caching (threat A10). */
export function htmlPage(
  html: string,
  status: number,
  formTarget: string | null = null,
): HttpResponse {
  return {
    status,
    body: html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy(formTarget),
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // `no-referrer` would make browsers send `Origin: null` with our own form.
      'referrer-policy': 'same-origin',
    },
  }
}

/**
 * Names the redirect target, because browsers apply `form-action` also to the redirect after the
 * post.
 */
function policy(formTarget: string | null): string {
  const target = formTarget === null ? '' : ` ${formTarget}`
  return `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'${target}; frame-ancestors 'none'; base-uri 'none'`
}

/**
 * Returns the source expression for the Content-Security-Policy: an origin, or the scheme of a
 * native app.
 */
export function redirectSource(redirectTo: string): string {
  const url = new URL(redirectTo)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.origin : url.protocol
}

/** Returns what people are shown: the host, or the scheme of a native app. */
export function redirectDestination(redirectTo: string): string {
  const url = new URL(redirectTo)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.host : url.protocol
}
