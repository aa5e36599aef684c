import type { BillingContext } from '../context.ts'
import { InvalidArgument } from '../errors.ts'
import { findOwnAddress } from '../values/arguments.ts'

/** The address of a path of the application's own, or InvalidArgument. */
export function ownUrl({ options }: BillingContext, what: string, path: unknown): string {
  const { publicUrl } = options
  if (publicUrl === null) {
    throw new InvalidArgument('Customers could not come back: give `baseUrl` to createBilling()')
  }
  const url = findOwnAddress(publicUrl, path)
  if (url !== null) return url
  throw new InvalidArgument(`${what}: ${JSON.stringify(path)} should look like '/billing/done'`)
}
