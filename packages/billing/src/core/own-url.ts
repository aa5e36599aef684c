import type { BillingContext } from './context.ts'
import { InvalidArgument } from './errors/errors.ts'
import { findApplicationUrl } from './values/arguments.ts'

/**
 * Converts a path of the application to an absolute URL below the option `baseUrl`.
 * @throws InvalidArgument if the path leads to another host, or the option `baseUrl` is missing.
 */
export function requireApplicationUrl(
  { options }: BillingContext,
  argumentName: string,
  path: unknown,
): string {
  const { publicUrl } = options
  if (publicUrl === null) {
    throw new InvalidArgument(
      'Customers need an address to return to: set `baseUrl` in createBilling()',
    )
  }
  const url = findApplicationUrl(publicUrl, path)
  if (url !== null) return url
  throw new InvalidArgument(
    `${argumentName}: ${JSON.stringify(path)} should look like '/billing/done'`,
  )
}
