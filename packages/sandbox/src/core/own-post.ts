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
  const from = new URL(origin)
  return from.host === host || isAllowed(from, allowed)
}

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** A name with a port is that origin alone: what listens at another port of the host may be somebody else's. */
function isAllowed(from: URL, allowed: readonly string[]): boolean {
  const port = from.port || PORTS[from.protocol]
  return allowed.some((each) => {
    const wanted = /:(\d+)$/.exec(each)?.[1] ?? port
    return wanted === port && isNamed(from.host, [each])
  })
}
