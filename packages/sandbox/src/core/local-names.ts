import { isIP } from 'node:net'

/** Ends of names that nobody can register, such as `host.docker.internal` (RFC 6761, RFC 6762, RFC 8375). */
const OF_NOBODY = ['localhost', 'local', 'internal', 'test', 'example', 'invalid', 'home.arpa']

/**
 * Whether a `Host` header names something that no stranger can own: an address, a bare name, a name under one of the ends
 * above. A web site that points a name of its own at 127.0.0.1 would be of one origin with the sandbox (DNS rebinding),
 * whose keys are no secret.
 */
export function isLocalName(host: string | undefined): boolean {
  if (host === undefined) return true
  const name = host.replace(/:\d+$/, '').replace(/\.$/, '').toLowerCase()
  const address = /^\[(.+)\]$/.exec(name)?.[1] ?? name
  if (isIP(address) !== 0 || !name.includes('.')) return true
  return OF_NOBODY.some((end) => name.endsWith(`.${end}`))
}
