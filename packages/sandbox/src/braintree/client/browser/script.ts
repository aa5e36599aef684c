import { BASE } from './base.ts'
import { CARD_STATE } from './card-state.ts'
import { DROP_IN } from './drop-in.ts'
import { HOSTED_FIELDS } from './hosted-fields.ts'

/**
 * What stands in for `client.min.js`, `hosted-fields.min.js` and `dropin.min.js` of
 * js.braintreegateway.com, for tests in a browser: the calls that a page makes, over plain fields of the
 * page itself. The real ones put each field into a frame of Braintree's; nothing here is that careful.
 */
export const BROWSER_SCRIPT = `(() => {
  'use strict'
  const root = (window.braintree = window.braintree || {})
  if (root.dropin) return
${BASE}
${CARD_STATE}
  root.client = { create: either(({ authorization }) => openClient(authorization)) }
${HOSTED_FIELDS}
${DROP_IN}
})()
`
