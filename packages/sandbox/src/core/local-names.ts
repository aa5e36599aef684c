import { isIP } from 'node:net'

/**
 * Name suffixes that no one can register on the public internet: reserved suffixes (RFC 6761, RFC
 * 6762, RFC 8375), as in `host.docker.internal`, and suffixes used inside private networks that are
 * not top-level domains, as in `sandbox.default.svc` in Kubernetes.
 */
const LOCAL_SUFFIXES = [
  ...['localhost', 'local', 'internal', 'test', 'example', 'invalid', 'home.arpa'],
  ...['localdomain', 'lan', 'svc'],
]

/**
 * Whether a `Host` header names a host that no outsider can own: an IP address, a name without
 * dots, a name with a local suffix such as `.localhost`, or one of the names in `allowed`. This
 * protects against DNS rebinding: a web site that points its own name at 127.0.0.1 would share an
 * origin with the sandbox, whose keys are public.
 */
export function isLocalName(host: string | undefined, allowed: readonly string[] = []): boolean {
  if (host === undefined) return true
  if (isHostInList(host, allowed)) return true
  const name = nameIn(host)
  const address = /^\[(.+)\]$/.exec(name)?.[1] ?? name
  if (isIP(address) !== 0 || !name.includes('.')) return true
  return LOCAL_SUFFIXES.some((end) => name.endsWith(`.${end}`))
}

/** Whether a host is one of the given names. Ports, case and a trailing dot are ignored. */
export function isHostInList(host: string, names: readonly string[]): boolean {
  return names.some((each) => nameIn(each) === nameIn(host))
}

function nameIn(host: string): string {
  return host.replace(/:\d+$/, '').replace(/\.$/, '').toLowerCase()
}

/**
 * Validates the option `allowedHosts`.
 * @throws {TypeError} If an entry is not a plain host name, for example a URL
 * (`https://shop.example.com`) or a wildcard (`*.example.com`).
 */
export function checkAllowedHosts(allowed: readonly string[]): void {
  const wrong = allowed.find((each) => !/^[\w-]+(\.[\w-]+)*\.?(:\d+)?$/.test(each))
  if (wrong === undefined) return
  throw new TypeError(
    `allowedHosts: ${JSON.stringify(wrong)} is not a host name; expected a name such as sandbox.example.com, without scheme, path or *`,
  )
}
