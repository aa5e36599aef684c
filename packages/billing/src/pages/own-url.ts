import type { BillingContext } from '../context.ts'
import { InvalidArgument } from '../errors.ts'

/** What a provider keeps of a path. */
const LONGEST = 500

/** One slash, and nothing that some browser takes for a second one or drops. */
const PATH = /^\/(?![/\\])[^\\\p{Cc}]*$/u

/**
 * An address of the application's own. It is given as a path, because a customer who comes back from a
 * provider's page may be sent nowhere else, whatever a form or a link has asked for.
 */
export function ownUrl({ options }: BillingContext, what: string, path: unknown): string {
  const { publicUrl } = options
  if (publicUrl === null) {
    throw new InvalidArgument('Customers could not come back: give `baseUrl` to createBilling()')
  }
  if (typeof path === 'string' && path.length <= LONGEST && PATH.test(path)) {
    const url = URL.canParse(path, publicUrl) ? new URL(path, publicUrl) : null
    // Dots are gone by now, and what they stood before.
    if (url?.origin === new URL(publicUrl).origin && !url.pathname.startsWith('//')) return url.href
  }
  throw new InvalidArgument(`${what}: ${JSON.stringify(path)} should look like '/billing/done'`)
}
