import { BlockList, isIP } from 'node:net'

/**
 * Addresses that are not on the public internet (IANA special-purpose registries, RFC 6890): this
 * machine, its network, cloud metadata services, multicast. Includes IPv6 networks whose addresses
 * embed an IPv4 address.
 */
const SPECIAL = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/** The only IPv6 range assigned for public use (RFC 4291 §2.4, RFC 3513). */
const PUBLIC_V6 = createBlockList(['2000::/3'])
const SPECIAL_V6 = [
  // Teredo, benchmarks, ORCHID, documentation, 6to4: some embed an IPv4 address, and none hosts a
  // web server.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]
const special = createBlockList([...SPECIAL, ...SPECIAL_V6])

/** Whether the server may send requests to this address without explicit permission. */
export function isPublicAddress(address: string): boolean {
  const kind = isIP(address)
  if (kind === 0) return false
  if (kind === 4) return !special.check(address, 'ipv4')
  return PUBLIC_V6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/**
 * Parses IP addresses and networks such as `127.0.0.1` and `10.0.0.0/8`. `name` is the name of the
 * option that contains them, for the error.
 * @throws {TypeError} that names the invalid text.
 */
export function parseAddresses(name: string, texts: readonly string[]): BlockList {
  const wrong = texts.find((text) => !isNetwork(text))
  if (wrong !== undefined) {
    throw new TypeError(
      `${name}: '${wrong}' should be an IP address or a network such as '10.0.0.0/8'.`,
    )
  }
  return createBlockList(texts)
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const kind = isIP(address)
  if (kind === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (kind === 4 ? 32 : 128))
}

function createBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}
