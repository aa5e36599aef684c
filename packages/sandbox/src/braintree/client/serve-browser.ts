import { Html, html } from '@tollgate/http'
import type { HttpRequest, HttpResponse } from '../../core/http.ts'
import type { ContextByMerchant } from '../api/keys.ts'
import { CARD_FIELD_PAGE, CARD_FIELD_SCRIPT } from './browser/field-frame.ts'
import {
  PAYPAL_BUTTON_SCRIPT,
  PAYPAL_SDK_SCRIPT,
  PAYPAL_WINDOW_SCRIPT,
} from './browser/paypal-sdk.ts'
import { BRAINTREE_SCRIPTS_BY_NAME } from './browser/script.ts'
import { BANK_PAGE_SCRIPT } from './browser/three-d-secure.ts'
import { signChallengeResults } from './three-d-secure.ts'

const COMPONENT_PATH = /^\/web\/[\w.-]+\/js\/([\w-]+?)(?:\.min)?\.js$/
const FRAME_PATH = /^\/web\/[\w.-]+\/html\/hosted-fields-frame(?:\.min)?\.html$/
const BANK_PATH = /^\/merchants\/([^/]+)\/three_d_secure\/(\w+)$/

/** Scripts that pages do not load directly, only frames and PayPal's windows. */
const SCRIPTS: Readonly<Record<string, string>> = {
  '/web/sandbox/js/hosted-fields-internal.js': CARD_FIELD_SCRIPT,
  '/web/sandbox/js/bank.js': BANK_PAGE_SCRIPT,
  '/paypal/sdk/js': PAYPAL_SDK_SCRIPT,
  '/paypal/button.js': PAYPAL_BUTTON_SCRIPT,
  '/paypal/agreement.js': PAYPAL_WINDOW_SCRIPT,
}

/**
 * Serves the replacements for the scripts on js.braintreegateway.com and www.paypal.com. Returns
 * `null` for any other path.
 */
export function serveBrowser(
  { method, path }: HttpRequest,
  merchants: ContextByMerchant,
): HttpResponse | null {
  if (method !== 'GET') return null
  const component = BRAINTREE_SCRIPTS_BY_NAME[COMPONENT_PATH.exec(path)?.[1] ?? '']
  const text = SCRIPTS[path] ?? component
  if (text !== undefined) return script(text)
  if (FRAME_PATH.test(path)) return page(CARD_FIELD_PAGE)
  if (path === '/paypal/button') return page(PAYPAL_BUTTON)
  if (path === '/paypal/agreement') return page(PAYPAL_WINDOW)
  const [, merchantId, nonce = ''] = BANK_PATH.exec(path) ?? []
  const context = merchantId === undefined ? undefined : merchants.get(merchantId)
  const answers = context ? signChallengeResults(context, nonce) : null
  return answers ? page(drawBank(answers)) : null
}

function script(body: string): HttpResponse {
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  }
  return { status: 200, headers, body }
}

function page(body: string): HttpResponse {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors *",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  }
  return { status: 200, headers, body }
}

const STYLE = new Html(`
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; padding: 1.25rem; }
h1 { font-size: 1.25rem; margin: 0 0 .75rem; }
button { font: inherit; font-weight: 600; min-height: 2.75rem; margin: 0 .5rem .5rem 0; padding: .4rem 1.1rem; border: 1px solid; border-radius: .5rem; background: Canvas; color: CanvasText; cursor: pointer; }
button.first { background: #2f5bd7; color: #fff; border-color: #2f5bd7; }
button:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }`)

const BUTTON_STYLE = new Html(`
html, body, main { margin: 0; height: 100%; background: transparent; }
button { width: 100%; height: 100%; border: 0; border-radius: .3rem; background: #ffc439; color: #111; font: italic 700 1.2rem system-ui, sans-serif; cursor: pointer; }
button:focus-visible { outline: 3px solid #1a1a1a; outline-offset: -5px; }`)

/**
 * Renders a page whose script runs before the button exists, because a click without a listener
 * would be lost.
 */
function draw(title: string, script: string, style: Html, body: Html): string {
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${style}</style><script src="${script}"></script></head><body><main>${body}</main></body></html>`
    .text
}

const PAYPAL_BUTTON = draw(
  'PayPal',
  '/paypal/button.js',
  BUTTON_STYLE,
  html`<button type="button" aria-label="PayPal">PayPal</button>`,
)

const PAYPAL_WINDOW = draw(
  'PayPal (sandbox)',
  '/paypal/agreement.js',
  STYLE,
  html`<h1>PayPal (sandbox)</h1><p>Do you agree to be charged by this shop from now on? Nothing here is real money.</p><p><button type="button" class="first" value="approved">Agree and Continue</button><button type="button" value="canceled">Cancel</button></p>`,
)

function drawBank({
  passed,
  failed,
}: {
  readonly passed: string
  readonly failed: string
}): string {
  return draw(
    '3-D Secure',
    '/web/sandbox/js/bank.js',
    STYLE,
    html`<h1>3-D Secure</h1><p>Your bank asks you to approve this card. This is the sandbox’s bank: it takes your word for it.</p><p><button type="button" class="first" data-jwt="${passed}">Complete</button><button type="button" data-jwt="${failed}">Fail</button></p>`,
  )
}
