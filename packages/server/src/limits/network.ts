import { BlockList, isIP, isIPv4 } from 'node:net'

/** Returns a function that tests whether an address lies in one of the networks. */
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

/** The IP address of a caller, and how it was determined. */
export interface CallerAddress {
  readonly address: string
  /**
   * How the address was determined. `used`: from `X-Forwarded-For`. `missing`: a trusted proxy sent
   * no valid address, so the proxy's own address is used for all its callers. `ignored`: a caller
   * in a private network, perhaps a proxy missing from the configuration, sent the header.
   * `absent`: there was no header to consider.
   */
  readonly forwarded: 'used' | 'missing' | 'ignored' | 'absent'
}

/**
 * Determines the caller's address. Reads `X-Forwarded-For` from the right and stops at the first
 * address that is not a trusted proxy, because the rest may be forged (threat I5).
 */
export function findCallerAddress(
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

/** Turns an IPv4-mapped IPv6 address into the IPv4 address, and drops a zone id. */
function plain(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  return mapped?.[1] ?? address.replace(/%.*$/, '')
}
