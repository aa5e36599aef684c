import { createHmac, timingSafeEqual } from 'node:crypto'

/** The header by which `tollgate doctor` asks `/healthz` which address the service sees it at. */
export const ADDRESS_PROBE = 'tollgate-address-probe'

/** Makes the header's value, which only holders of the service's secret can make. */
export function addressProbe(secret: string): string {
  return createHmac('sha256', secret).update('tollgate address probe').digest('base64url')
}

export function isAddressProbe(given: string | undefined, secrets: readonly string[]): boolean {
  if (given === undefined) return false
  return secrets.some((secret) => {
    const [a, b] = [Buffer.from(given), Buffer.from(addressProbe(secret))]
    return a.length === b.length && timingSafeEqual(a, b)
  })
}
