import type { HttpRequest } from '@tollgate/http'

const LONGEST = 64
const V6 = /^[\da-f:]*:[\da-f:]*$/i

/**
 * The network that limits count by: what one subscriber has at most, an IPv4 address or the /64 of an IPv6 address. A
 * text that is no address is returned as it is, and `unknown` for an empty one.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '')
  if (!V6.test(plain)) return plain.slice(0, LONGEST) || 'unknown'
  const [head = '', tail] = plain.toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...Array.from({ length: zeros }, () => '0'), ...back]
  const prefix = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${prefix.join(':')}::/64`
}

/** Finds the network of whoever sent a request; null where it is not known. */
export function findNetwork(
  request: HttpRequest,
  { addressOf, issuer }: { readonly addressOf: AddressOf | null; readonly issuer: string },
): string | null {
  const address = addressOf ? addressOf(request.toRequest(issuer)) : request.address
  return address ? networkOf(address) : null
}

/** The address of a caller as the application knows it; null where it does not. */
export type AddressOf = (request: Request) => string | null
