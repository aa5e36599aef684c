import { isIP } from 'node:net'

/** Addresses as `10.0.0.7`, and networks as `10.0.0.0/8`. */
export function isNetwork(value: string): boolean {
  const [address = '', bits, ...more] = value.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

/** A host, with a port where it is not the usual one. */
export function isHost(value: string): boolean {
  return URL.canParse(`https://${value}/`) && new URL(`https://${value}/`).host === value
}
