import type { HttpResponse } from '../../core/http.ts'
import { BROWSER_SCRIPT } from './browser/script.ts'

const PATHS = /^\/web\/(?:dropin\/)?[\w.-]+\/js\/(?:client|hosted-fields|dropin)(?:\.min)?\.js$/

/** The stand-in for Braintree's scripts, at the paths they have at js.braintreegateway.com. */
export function findScript(path: string): HttpResponse | null {
  if (!PATHS.test(path)) return null
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'access-control-allow-origin': '*',
  }
  return { status: 200, headers, body: BROWSER_SCRIPT }
}
