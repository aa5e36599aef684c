/** Options of the Braintree sandbox. */
export interface BraintreeOptions extends BraintreeMerchantOptions {
  /**
   * Port of the Braintree server. `0` uses a free port.
   * @default 0
   */
  readonly port?: number
  /**
   * Id of the first merchant.
   * @default 'sandbox_merchant'
   */
  readonly merchantId?: string
  /**
   * Public API key of the first merchant.
   * @default 'sandbox_public_key'
   */
  readonly publicKey?: string
  /**
   * Private API key of the first merchant, which signs API calls and webhooks.
   * @default 'sandbox_private_key'
   */
  readonly privateKey?: string
  /** URLs that receive the notifications of the first merchant. */
  readonly webhooks?: readonly string[]
  /** Additional merchants on the same server. Each has its own keys, vault and control panel. */
  readonly merchants?: readonly BraintreeMerchant[]
}

/**
 * An additional merchant of the Braintree server. `sandbox.braintree.merchant(id)` returns its
 * handle.
 */
export interface BraintreeMerchant extends BraintreeMerchantOptions {
  /** Id of the merchant, which is part of the path of the merchant's API calls. */
  readonly merchantId: string
  /** Public API key of the merchant. No other merchant may have the same key. */
  readonly publicKey: string
  /** Private API key of the merchant, which signs API calls and webhooks. */
  readonly privateKey: string
}

/**
 * Initial currency and default account of a merchant. Ignored if the merchant exists in the
 * restored state.
 */
export interface BraintreeMerchantOptions {
  /** Currency of the default merchant account. @default 'USD' */
  readonly currency?: string
  /**
   * Id of the default merchant account. Defaults to `sandbox_` and the currency, such as
   * `sandbox_usd`.
   */
  readonly defaultMerchantAccount?: string
}
