import type { HttpRequest } from '@tollgate/http'
import { CsrfMismatch } from '../errors.ts'

/**
 * Rejects POST requests from pages of other sites, by the headers `Origin` and `Sec-Fetch-Site`
 * that browsers send.
 * @throws CsrfMismatch
 */
export function assertSameOrigin(request: HttpRequest, issuer: URL): void {
  const origin = request.header('origin')
  const site = request.header('sec-fetch-site')
  const foreignOrigin = origin !== null && origin !== issuer.origin
  const foreignSite = site !== null && site !== 'same-origin'
  if (foreignOrigin || (origin === null && foreignSite)) {
    throw new CsrfMismatch(`This form must be sent from ${issuer.origin}.`)
  }
}
