import type { HttpRequest } from '../core/http.ts'
import { isSameOriginPost } from '../core/same-origin-post.ts'

const OWN_NAMES = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * Returns why the control room rejects a request, or `null` if the request is allowed. The control
 * room has no password, so it must reject requests that other websites send through a visitor's
 * browser.
 */
export function findRejectionReason({ method, headers }: HttpRequest): string | null {
  // A site whose name resolves to 127.0.0.1 would count as the same origin: DNS rebinding.
  const name = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase()
  if (!OWN_NAMES.has(name)) {
    return `The control room does not accept the host name ${name || '(none)'}. Use http://127.0.0.1 or http://localhost.`
  }
  if (method === 'GET' || method === 'HEAD') return null
  return isSameOriginPost(headers) ? null : 'This form was sent by another site.'
}

/**
 * Returns the path to redirect to after a form, or `/` if the given path could lead to another
 * host.
 */
export function toLocalRedirectPath(path: string | null): string {
  if (!path || path.length > 2000 || /[\p{Cc}\\]/u.test(path)) return '/'
  return /^\/(?!\/)/.test(path) ? path : '/'
}
