import { isPublicAddress } from '../outgoing/addresses.ts'
import type { AddressReader } from '../request.ts'
import type { MountOptions } from '../routes.ts'

/**
 * Makes a reader of the caller's address. What the application says counts as it is. Of what a framework says by
 * itself, only public addresses count: behind a proxy that it was not told of, everybody would have the same one.
 */
export function addressReader<FrameworkRequest>(
  { address }: MountOptions<FrameworkRequest>,
  request: FrameworkRequest,
  usual: AddressReader,
): AddressReader {
  if (address) return () => address(request)
  return () => {
    const said = usual()?.replace(/^::ffff:(?=[\d.]+$)/i, '')
    return said !== undefined && isPublicAddress(said) ? said : undefined
  }
}
