import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

/** Posts a form to an address that a client has told us; gives the status of the response. */
export type Deliver = (url: string, form: string, signal: AbortSignal) => Promise<number>

/** A client that takes longer is tried again later, and nobody waits for it meanwhile. */
const PATIENCE = 5000

const PRIVATE_NETWORKS = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
] as const

/**
 * By fetch(), to public addresses over https, and to those that are listed. The name is looked up once to be
 * checked and once more to be connected to, so a name that changes in between is not caught.
 */
export function deliverByFetch(privateAddresses: readonly string[]): Deliver {
  const listed = new Set(privateAddresses)
  return async (address, form, signal) => {
    const url = new URL(address)
    if (!/^https?:$/.test(url.protocol)) throw new Error('The address is not https')
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const found = isIP(host) ? [{ address: host }] : await lookup(host, { all: true })
    const isListed = found.length > 0 && found.every((each) => listed.has(each.address))
    if (!isListed && found.some((each) => !isPublic(each.address))) {
      throw new Error('The address is not public')
    }
    if (url.protocol !== 'https:' && !isListed) throw new Error('The address is not https')
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]),
    })
    await response.body?.cancel()
    return response.status
  }
}

const privateList = new BlockList()
for (const [net, prefix, family] of PRIVATE_NETWORKS) privateList.addSubnet(net, prefix, family)
const publicV6 = new BlockList()
publicV6.addSubnet('2000::', 3, 'ipv6')

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !privateList.check(address, 'ipv4')
  return isIP(address) === 6 && publicV6.check(address, 'ipv6')
}
