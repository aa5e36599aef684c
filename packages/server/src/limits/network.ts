import { BlockList, isIP, isIPv4 } from 'node:net'

/** Makes the test for addresses in a list of networks, such as those of our own proxies. */
export function createProxyList(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (address) => {
    const family = isIP(address)
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
  }
}

/** The address of a caller, and whether it could be found out. */
export interface CallerAddress {
  readonly address: string
  /**
   * `missing`: our own proxy named no address, so the proxy's own stands for every caller behind it.
   * `ignored`: a peer on a private network, which looks like a proxy that is not configured, named one.
   */
  readonly forwarded: 'used' | 'missing' | 'ignored' | 'absent'
}

/**
 * Finds the caller's address. `X-Forwarded-For` counts only as far as our own proxies wrote it: read from the
 * right, the first address that is not one of them (threat I5).
 */
export function callerAddress(
  peer: string | undefined,
  forwardedFor: string | null,
  isProxy: (address: string) => boolean,
): CallerAddress {
  let address = plain(peer ?? '')
  if (!isProxy(address)) {
    const forwarded = forwardedFor !== null && isPrivate(address) ? 'ignored' : 'absent'
    return { address, forwarded }
  }
  let forwarded: CallerAddress['forwarded'] = 'missing'
  const hops = (forwardedFor ?? '').split(',').map((hop) => plain(hop.trim()))
  while (isProxy(address)) {
    const before = hops.pop()
    if (!before || isIP(before) === 0) break
    address = before
    forwarded = 'used'
  }
  return { address, forwarded }
}

const isPrivate = createProxyList([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1',
  'fc00::/7',
])

/** An IPv4 address that came through an IPv6 socket is still the same address. */
function plain(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  return mapped?.[1] ?? address.replace(/%.*$/, '')
}
