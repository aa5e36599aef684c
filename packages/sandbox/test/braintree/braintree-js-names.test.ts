import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import ERRORS from '../../src/braintree/client/browser/errors.json' with { type: 'json' }
import { BRAINTREE_SCRIPTS_BY_NAME } from '../../src/braintree/client/browser/script.ts'

/**
 * Every error code of the components that have stand-ins, as npm's braintree-web 3.144.0 declares
 * them (`errors.js` in `lib`, `client`, `hosted-fields`, `three-d-secure` and `paypal-checkout`;
 * read on 2026-11-18). The package's types declare none, and the package itself is 70 MB with its
 * dependencies.
 */
const CODES = new Set(
  `CLIENT_AUTHORIZATION_INSUFFICIENT CLIENT_AUTHORIZATION_INVALID CLIENT_GATEWAY_CONFIGURATION_INVALID_DOMAIN
   CLIENT_GATEWAY_NETWORK CLIENT_GRAPHQL_REQUEST_ERROR CLIENT_INVALID_AUTHORIZATION
   CLIENT_MISSING_GATEWAY_CONFIGURATION CLIENT_OPTION_INVALID CLIENT_OPTION_REQUIRED CLIENT_RATE_LIMITED
   CLIENT_REQUEST_ERROR CLIENT_REQUEST_TIMEOUT CLIENT_SCRIPT_FAILED_TO_LOAD HOSTED_FIELDS_ATTRIBUTE_NOT_SUPPORTED
   HOSTED_FIELDS_ATTRIBUTE_VALUE_NOT_ALLOWED HOSTED_FIELDS_FAILED_TOKENIZATION HOSTED_FIELDS_FIELDS_EMPTY
   HOSTED_FIELDS_FIELDS_INVALID HOSTED_FIELDS_FIELD_DUPLICATE_IFRAME HOSTED_FIELDS_FIELD_INVALID
   HOSTED_FIELDS_FIELD_NOT_PRESENT HOSTED_FIELDS_FIELD_PROPERTY_INVALID HOSTED_FIELDS_INVALID_FIELD_KEY
   HOSTED_FIELDS_INVALID_FIELD_SELECTOR HOSTED_FIELDS_TIMEOUT HOSTED_FIELDS_TOKENIZATION_CVV_VERIFICATION_FAILED
   HOSTED_FIELDS_TOKENIZATION_FAIL_ON_DUPLICATE HOSTED_FIELDS_TOKENIZATION_NETWORK_ERROR INCOMPATIBLE_VERSIONS
   INSTANTIATION_OPTION_INVALID INSTANTIATION_OPTION_REQUIRED INVALID_USE_OF_INTERNAL_FUNCTION
   METHOD_CALLED_AFTER_TEARDOWN PAYPAL_ACCOUNT_TOKENIZATION_FAILED PAYPAL_BILLING_AGREEMENT_JWT_FAILED
   PAYPAL_FLOW_FAILED PAYPAL_FLOW_OPTION_REQUIRED PAYPAL_INVALID_PAYMENT_OPTION PAYPAL_MISSING_REQUIRED_OPTION
   PAYPAL_NOT_ENABLED PAYPAL_SANDBOX_ACCOUNT_NOT_LINKED PAYPAL_START_VAULT_INITIATED_CHECKOUT_CANCELED
   PAYPAL_START_VAULT_INITIATED_CHECKOUT_IN_PROGRESS PAYPAL_START_VAULT_INITIATED_CHECKOUT_PARAM_REQUIRED
   PAYPAL_START_VAULT_INITIATED_CHECKOUT_POPUP_OPEN_FAILED PAYPAL_START_VAULT_INITIATED_CHECKOUT_SETUP_FAILED
   THREEDS_AUTHENTICATION_IN_PROGRESS THREEDS_CAN_NOT_USE_TOKENIZATION_KEY THREEDS_CARDINAL_SDK_BAD_CONFIG
   THREEDS_CARDINAL_SDK_BAD_JWT THREEDS_CARDINAL_SDK_CANCELED THREEDS_CARDINAL_SDK_ERROR
   THREEDS_CARDINAL_SDK_RESPONSE_TIMEDOUT THREEDS_CARDINAL_SDK_SCRIPT_LOAD_FAILED
   THREEDS_CARDINAL_SDK_SETUP_FAILED THREEDS_CARDINAL_SDK_SETUP_TIMEDOUT THREEDS_FRAMEWORK_METHOD_NOT_IMPLEMENTED
   THREEDS_HTTPS_REQUIRED THREEDS_INLINE_IFRAME_DETAILS_INCORRECT THREEDS_JWT_AUTHENTICATION_FAILED
   THREEDS_LOOKUP_ERROR THREEDS_LOOKUP_TOKENIZED_CARD_NOT_FOUND_ERROR THREEDS_LOOKUP_VALIDATION_ERROR
   THREEDS_MISSING_VERIFY_CARD_OPTION THREEDS_NOT_ENABLED THREEDS_NOT_ENABLED_FOR_V2
   THREEDS_NO_VERIFICATION_PAYLOAD THREEDS_REQUESTED_EXEMPTION_TYPE_INVALID
   THREEDS_TERM_URL_REQUIRES_BRAINTREE_DOMAIN THREEDS_UNRECOGNIZED_VERSION THREEDS_UNSUPPORTED_VERSION
   THREEDS_VERIFY_CARD_CANCELED_BY_MERCHANT`.split(/\s+/),
)

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
const codesIn = (text: string) =>
  new Set(text.match(/\b(?:CLIENT|HOSTED_FIELDS|THREEDS|PAYPAL)_[A-Z_]+[A-Z]\b/g) ?? [])

it.each([
  ['the stand-ins', () => new Set(Object.keys(ERRORS))],
  ['the billing page', () => codesIn(read('packages/server/assets/braintree-card.js'))],
  ['the guide to a pay page', () => codesIn(read('docs/guides/pay-page.md'))],
])(
  "the replacement for Braintree's browser script uses only error codes that Braintree declares (%s)",
  (_name, codes) => {
    const own = [...codes()].filter((code) => !/^PAYPAL_(?:CLOSED|FAILED)$/.test(code))
    expect(own.length).toBeGreaterThan(4)
    expect(own.filter((code) => !CODES.has(code))).toEqual([])
  },
)

it("each replacement for a Braintree browser script adds one component to window.braintree, under Braintree's name", () => {
  const names = Object.entries(BRAINTREE_SCRIPTS_BY_NAME).map(([file, script]) => {
    const window: { braintree?: Record<string, { create?: unknown; VERSION?: unknown }> } = {}
    const document = { currentScript: { src: `http://127.0.0.1:1/web/3.144.0/js/${file}.min.js` } }
    runInNewContext(script, { window, document, URL, URLSearchParams })
    const [[name = '', component] = []] = Object.entries(window.braintree ?? {})
    return [file, name, typeof component?.create, component?.VERSION]
  })
  expect(names).toEqual([
    ['client', 'client', 'function', '3.144.0'],
    ['hosted-fields', 'hostedFields', 'function', '3.144.0'],
    ['three-d-secure', 'threeDSecure', 'function', '3.144.0'],
    ['paypal-checkout', 'paypalCheckout', 'function', '3.144.0'],
  ])
})

it("the sandbox's list of Braintree's browser error codes is from the braintree-web version that the billing page and the guide load", () => {
  const files = ['packages/server/src/pages/billing/model/card-entry.ts', 'docs/guides/pay-page.md']
  const versions = files.flatMap((file) => [...read(file).matchAll(/\/web\/(\d[\d.]+)\/js/g)])
  expect(versions.map(([, version]) => version)).toEqual(['3.144.0', '3.144.0'])
})
