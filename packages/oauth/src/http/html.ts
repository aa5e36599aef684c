import type { HttpResponse } from '@tollgate/http'
/** Forbids framing, script, other origins and caching on every page (threat A10). */
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
      // Not `no-referrer`: that would make browsers send `Origin: null` with our own form.
      'referrer-policy': 'same-origin',
    },
  }
}

/** Browsers apply `form-action` to the redirect after the post too, so the target is named. */
function policy(formTarget: string | null): string {
  const target = formTarget === null ? '' : ` ${formTarget}`
  return `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'${target}; frame-ancestors 'none'; base-uri 'none'`
}

/** As CSP knows it: an origin, or the scheme of a native app. */
export function redirectSource(redirectTo: string): string {
  const url = new URL(redirectTo)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.origin : url.protocol
}

/** What a person is told: the host, or the app's scheme. */
export function redirectDestination(redirectTo: string): string {
  const url = new URL(redirectTo)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.host : url.protocol
}
