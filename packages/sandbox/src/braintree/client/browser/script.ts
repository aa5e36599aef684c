import { BRAINTREE_BASE_SCRIPT } from './base.ts'
import { CARD_STATE_SCRIPT } from './card-state.ts'
import { HOSTED_FIELDS_SCRIPT } from './hosted-fields.ts'
import { PAYPAL_CHECKOUT_SCRIPT } from './paypal-checkout.ts'
import { THREE_D_SECURE_SCRIPT } from './three-d-secure.ts'

const CLIENT = `
  root.client = { VERSION, create: either((options = {}) => openClient(options.authorization)) }
`

/**
 * Replacements for the scripts on js.braintreegateway.com, by the name of their component, for
 * tests in a browser. Like the originals, each script adds one component to `window.braintree`.
 */
export const BRAINTREE_SCRIPTS_BY_NAME: Readonly<Record<string, string>> = {
  client: wrap(CLIENT),
  'hosted-fields': wrap(CARD_STATE_SCRIPT + HOSTED_FIELDS_SCRIPT),
  'three-d-secure': wrap(THREE_D_SECURE_SCRIPT),
  'paypal-checkout': wrap(PAYPAL_CHECKOUT_SCRIPT),
}

function wrap(component: string): string {
  return `(() => {
  'use strict'
  const root = (window.braintree = window.braintree || {})
${BRAINTREE_BASE_SCRIPT}
${component}
})()
`
}
