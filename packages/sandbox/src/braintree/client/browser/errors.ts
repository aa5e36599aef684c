/** The kinds of `BraintreeError`, by their codes: its `type`, and its message where that is always the same. */
export const ERRORS: Readonly<Record<string, readonly [type: string, message?: string]>> = {
  INSTANTIATION_OPTION_REQUIRED: ['MERCHANT'],
  METHOD_CALLED_AFTER_TEARDOWN: ['MERCHANT'],
  CLIENT_INVALID_AUTHORIZATION: [
    'MERCHANT',
    'Authorization is invalid. Make sure your client token or tokenization key is valid.',
  ],
  CLIENT_OPTION_REQUIRED: ['MERCHANT'],
  CLIENT_GATEWAY_NETWORK: ['NETWORK', 'Cannot contact the gateway at this time.'],
  CLIENT_REQUEST_ERROR: ['NETWORK', 'There was a problem with your request.'],
  CLIENT_AUTHORIZATION_INSUFFICIENT: [
    'MERCHANT',
    'The authorization used has insufficient privileges.',
  ],
  CLIENT_AUTHORIZATION_INVALID: [
    'MERCHANT',
    'Either the client token has expired and a new one should be generated or the tokenization key has been deactivated or deleted.',
  ],
  HOSTED_FIELDS_INVALID_FIELD_KEY: ['MERCHANT'],
  HOSTED_FIELDS_INVALID_FIELD_SELECTOR: [
    'MERCHANT',
    'Selector does not reference a valid DOM node.',
  ],
  HOSTED_FIELDS_FIELD_DUPLICATE_IFRAME: [
    'MERCHANT',
    'Element already contains a Braintree iframe.',
  ],
  HOSTED_FIELDS_FIELD_INVALID: ['MERCHANT'],
  HOSTED_FIELDS_FIELD_NOT_PRESENT: ['MERCHANT'],
  HOSTED_FIELDS_ATTRIBUTE_NOT_SUPPORTED: ['MERCHANT'],
  HOSTED_FIELDS_TIMEOUT: ['UNKNOWN', 'Hosted Fields timed out when attempting to set up.'],
  HOSTED_FIELDS_TOKENIZATION_NETWORK_ERROR: ['NETWORK', 'A tokenization network error occurred.'],
  HOSTED_FIELDS_TOKENIZATION_FAIL_ON_DUPLICATE: [
    'CUSTOMER',
    "This credit card already exists in the merchant's vault.",
  ],
  HOSTED_FIELDS_TOKENIZATION_CVV_VERIFICATION_FAILED: [
    'CUSTOMER',
    'CVV verification failed during tokenization.',
  ],
  HOSTED_FIELDS_FAILED_TOKENIZATION: ['CUSTOMER', 'The supplied card data failed tokenization.'],
  HOSTED_FIELDS_FIELDS_EMPTY: [
    'CUSTOMER',
    'All fields are empty. Cannot tokenize empty card fields.',
  ],
  HOSTED_FIELDS_FIELDS_INVALID: [
    'CUSTOMER',
    'Some payment input fields are invalid. Cannot tokenize invalid card fields.',
  ],
  THREEDS_NOT_ENABLED: ['MERCHANT', '3D Secure is not enabled for this merchant.'],
  THREEDS_UNSUPPORTED_VERSION: ['MERCHANT', '3D Secure `1` is deprecated and no longer supported.'],
  THREEDS_UNRECOGNIZED_VERSION: ['MERCHANT'],
  THREEDS_AUTHENTICATION_IN_PROGRESS: [
    'MERCHANT',
    'Cannot call verifyCard while existing authentication is in progress.',
  ],
  THREEDS_MISSING_VERIFY_CARD_OPTION: ['MERCHANT'],
  THREEDS_LOOKUP_TOKENIZED_CARD_NOT_FOUND_ERROR: [
    'MERCHANT',
    'Either the payment method nonce passed to `verifyCard` does not exist, or it was already consumed',
  ],
  THREEDS_LOOKUP_VALIDATION_ERROR: [
    'CUSTOMER',
    'The data passed in `verifyCard` did not pass validation checks. See details for more info',
  ],
  THREEDS_LOOKUP_ERROR: ['UNKNOWN', 'Something went wrong during the 3D Secure lookup'],
  THREEDS_JWT_AUTHENTICATION_FAILED: [
    'UNKNOWN',
    'Something went wrong authenticating the JWT from Cardinal',
  ],
  THREEDS_VERIFY_CARD_CANCELED_BY_MERCHANT: [
    'MERCHANT',
    '3D Secure verification canceled by merchant.',
  ],
  THREEDS_NO_VERIFICATION_PAYLOAD: ['MERCHANT', 'No verification payload available.'],
  PAYPAL_NOT_ENABLED: ['MERCHANT', 'PayPal is not enabled for this merchant.'],
  PAYPAL_FLOW_OPTION_REQUIRED: ['MERCHANT', 'PayPal flow property is invalid or missing.'],
  PAYPAL_FLOW_FAILED: ['NETWORK', 'Could not initialize PayPal flow.'],
  PAYPAL_ACCOUNT_TOKENIZATION_FAILED: ['NETWORK', "Could not tokenize user's PayPal account."],
}
