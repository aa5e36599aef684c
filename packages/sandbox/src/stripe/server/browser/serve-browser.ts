import type { HttpRequest, HttpResponse } from '../../../core/http.ts'
import { renderStripeElement } from './element-frame.ts'
import { ELEMENT_SCRIPT } from './element-script.ts'
import { STRIPE_JS_SCRIPT } from './stripe-js.ts'

/**
 * Paths of the script: those of js.stripe.com (`/v3/`, `/v3/stripe.js`, and `/endive/stripe.js` for
 * any release name).
 */
const SCRIPT_PATHS = /^\/(?:v3\/?|(?:v3|[a-z]+)\/stripe\.js)$/
const ELEMENT_PATH = /^\/v3\/elements\/(\w+)$/

/**
 * Serves the scripts and iframes that pages load from the sandbox instead of js.stripe.com. Returns
 * `null` for any other path.
 */
export function serveBrowser({ method, path }: HttpRequest): HttpResponse | null {
  if (method !== 'GET') return null
  if (path === '/v3/elements.js') return script(ELEMENT_SCRIPT)
  if (SCRIPT_PATHS.test(path)) return script(STRIPE_JS_SCRIPT)
  const element = renderStripeElement(ELEMENT_PATH.exec(path)?.[1] ?? '')
  return element === null ? null : { status: 200, headers: FRAME_HEADERS, body: element }
}

function script(body: string): HttpResponse {
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  }
  return { status: 200, headers, body }
}

const FRAME_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors *",
  'referrer-policy': 'no-referrer',
}
