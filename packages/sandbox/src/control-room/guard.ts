import type { HttpRequest } from '../core/http.ts'
import { isOwnPost } from '../core/own-post.ts'

const OWN_NAMES = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * Why a request is refused; null when it is not. The control room asks for no password, so it must
 * know that a person or a program of this machine is asking, and no web site through their browser.
 */
export function refusalOf({ method, headers }: HttpRequest): string | null {
  // A site that points its own name at 127.0.0.1 would be of one origin with us: DNS rebinding.
  const name = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase()
  if (!OWN_NAMES.has(name)) {
    return `The control room is not known by the name ${name || 'that was asked for'}. Use http://127.0.0.1 or http://localhost.`
  }
  if (method === 'GET' || method === 'HEAD') return null
  return isOwnPost(headers) ? null : 'This form was sent by another site.'
}

/** A path of ours to go back to: never another host. */
export function localPath(path: string | null): string {
  if (!path || path.length > 2000 || /[\p{Cc}\\]/u.test(path)) return '/'
  return /^\/(?!\/)/.test(path) ? path : '/'
}
