import { isIP } from 'node:net'

/**
 * Ends of names that nobody can register: reserved, such as `host.docker.internal` (RFC 6761, RFC 6762, RFC 8375), or in use
 * within networks and no top-level domain, such as `sandbox.default.svc` in Kubernetes.
 */
const OF_NOBODY = [
  ...['localhost', 'local', 'internal', 'test', 'example', 'invalid', 'home.arpa'],
  ...['localdomain', 'lan', 'svc'],
]

/**
 * Whether a `Host` header names something that no stranger can own: an address, a bare name, a name under one of the ends
 * above. A web site that points a name of its own at 127.0.0.1 would be of one origin with the sandbox (DNS rebinding),
 * whose keys are no secret. Somebody who runs it behind a name of their own says so, by `allowed`.
 */
export function isLocalName(host: string | undefined, allowed: readonly string[] = []): boolean {
  if (host === undefined) return true
  if (isNamed(host, allowed)) return true
  const name = nameIn(host)
  const address = /^\[(.+)\]$/.exec(name)?.[1] ?? name
  if (isIP(address) !== 0 || !name.includes('.')) return true
  return OF_NOBODY.some((end) => name.endsWith(`.${end}`))
}

/** Whether a host is one of those, whatever its port. */
export function isNamed(host: string, names: readonly string[]): boolean {
  return names.some((each) => nameIn(each) === nameIn(host))
}

function nameIn(host: string): string {
  return host.replace(/:\d+$/, '').replace(/\.$/, '').toLowerCase()
}

/** What could never be met is refused: `https://shop.example.com`, `*.example.com`. */
export function checkHosts(allowed: readonly string[]): void {
  const wrong = allowed.find((each) => !/^[\w-]+(\.[\w-]+)*\.?(:\d+)?$/.test(each))
  if (wrong === undefined) return
  throw new TypeError(
    `allowedHosts: ${JSON.stringify(wrong)} is no name of a host; write it as sandbox.example.com, without scheme, path or *`,
  )
}
