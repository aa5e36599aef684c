import { isPublicAddress } from '../outgoing/addresses.ts'
import type { IpAddressReader } from '../request.ts'
import type { MountOptions } from '../routes.ts'

/**
 * Creates a function that returns the caller's IP address. The result of the application's option
 * `address` is used unchanged. Without that option, the address that the framework reports
 * (`defaultReader`) is used, but only if it is public: behind a proxy that the framework does not
 * know, all callers would share the proxy's private address.
 */
export function createAddressReader<FrameworkRequest>(
  { address }: MountOptions<FrameworkRequest>,
  request: FrameworkRequest,
  defaultReader: IpAddressReader,
): IpAddressReader {
  if (address) return () => address(request)
  return () => {
    const said = defaultReader()?.replace(/^::ffff:(?=[\d.]+$)/i, '')
    return said !== undefined && isPublicAddress(said) ? said : undefined
  }
}
