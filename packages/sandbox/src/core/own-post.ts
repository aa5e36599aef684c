import type { IncomingHttpHeaders } from 'node:http'
import { isNamed } from './local-names.ts'

/**
 * Whether a form comes from a page of this server, or from a program, which has no pages. Browsers say where a post comes from,
 * and a form of another site must not move anything here. Behind a proxy the page may have another name, one of `allowed`.
 */
export function isOwnPost(headers: IncomingHttpHeaders, allowed: readonly string[] = []): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (origin === undefined) return site === undefined || site === 'same-origin'
  if (!URL.canParse(origin)) return false
  const { host: from } = new URL(origin)
  return from === host || isNamed(from, allowed)
}
