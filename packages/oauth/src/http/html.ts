import type { HttpResponse } from '@tollgate/http'
/**
 * Creates a response with an HTML page. Its headers forbid framing, scripts, content from other
 * origins, and caching (threat A10). `formTarget` is an origin to which forms may redirect.
 */
export function createHtmlPage(
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
 * Returns the Content-Security-Policy. It names the redirect target, because browsers apply
 * `form-action` also to the redirect after the post.
 */
function policy(formTarget: string | null): string {
  const target = formTarget === null ? '' : ` ${formTarget}`
  return `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'${target}; frame-ancestors 'none'; base-uri 'none'`
}

/**
 * Returns the source expression by which a Content-Security-Policy allows a redirect URI: its
 * origin, or the scheme of a native app.
 */
export function toRedirectCspSource(redirectTo: string): string {
  const url = new URL(redirectTo)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.origin : url.protocol
}

/**
 * Returns the part of a redirect URI that pages show to people: the host, or the scheme of a native
 * app.
 */
export function formatRedirectTarget(redirectTo: string): string {
  const url = new URL(redirectTo)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.host : url.protocol
}
