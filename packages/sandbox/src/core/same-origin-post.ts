import type { IncomingHttpHeaders } from 'node:http'
import { isHostInList } from './local-names.ts'

/**
 * Whether a posted form comes from a page of this server, or from a program that is not a browser.
 * This protects against cross-site requests, because browsers send the origin of a post. `allowed`
 * lists the host names under which browsers see the page behind a proxy.
 */
export function isSameOriginPost(
  headers: IncomingHttpHeaders,
  allowed: readonly string[] = [],
): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (origin === undefined) return site === undefined || site === 'same-origin'
  if (!URL.canParse(origin)) return false
  const from = new URL(origin)
  return from.host === host || isAllowed(from, allowed)
}

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/**
 * Whether an origin is one of the allowed hosts. An entry with a port allows that port only,
 * because other ports of the host may belong to other servers.
 */
function isAllowed(from: URL, allowed: readonly string[]): boolean {
  const port = from.port || PORTS[from.protocol]
  return allowed.some((each) => {
    const wanted = /:(\d+)$/.exec(each)?.[1] ?? port
    return wanted === port && isHostInList(from.host, [each])
  })
}
