import type { HttpRequest } from '@tollgate/http'

const MAX_LENGTH = 64
const V6 = /^[\da-f:]*:[\da-f:]*$/i

/**
 * Returns the network by which limits count an address: the address itself for IPv4, and its /64
 * prefix for IPv6, which is what one subscriber usually has. Other text is returned unchanged, up
 * to 64 characters, and `unknown` for an empty one.
 */
export function getNetwork(address: string): string {
  const plain = address.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '')
  if (!V6.test(plain)) return plain.slice(0, MAX_LENGTH) || 'unknown'
  const [head = '', tail] = plain.toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...Array.from({ length: zeros }, () => '0'), ...back]
  const prefix = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${prefix.join(':')}::/64`
}

/** Finds the network from which a request was sent. `null` if the address is not known. */
export function findNetwork(
  request: HttpRequest,
  {
    addressOf,
    issuer,
  }: { readonly addressOf: ClientAddressReader | null; readonly issuer: string },
): string | null {
  const address = addressOf ? addressOf(request.toRequest(issuer)) : request.address
  return address ? getNetwork(address) : null
}

/** Returns the address of the sender of a request. `null` if the application does not know it. */
export type ClientAddressReader = (request: Request) => string | null
