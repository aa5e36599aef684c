/** Options of the Braintree sandbox. */
export interface BraintreeOptions extends BraintreeMerchantOptions {
  /** Port of the server. `0` uses a free port. @default 0 */
  readonly port?: number
  /** Merchant id. @default 'sandbox_merchant' */
  readonly merchantId?: string
  /** Public key. @default 'sandbox_public_key' */
  readonly publicKey?: string
  /** Private key, which signs calls and webhooks. @default 'sandbox_private_key' */
  readonly privateKey?: string
  /** URLs that receive the first merchant's notifications. */
  readonly webhooks?: readonly string[]
  /** Additional merchants on the same server. Each has its own keys, vault and control panel. */
  readonly merchants?: readonly BraintreeMerchant[]
}

/** An additional merchant. `sandbox.braintree.merchant(id)` returns its handle. */
export interface BraintreeMerchant extends BraintreeMerchantOptions {
  /** Merchant id, which is part of every call's path. */
  readonly merchantId: string
  /** Public key, which must differ from all other merchants'. */
  readonly publicKey: string
  /** Private key, which signs calls and webhooks. */
  readonly privateKey: string
}

/** Initial settings of a merchant. A restored state keeps its own. */
export interface BraintreeMerchantOptions {
  /** Currency of the default merchant account. @default 'USD' */
  readonly currency?: string
  /**
   * Id of the default merchant account. Defaults to `sandbox_` and the currency, such as
   * `sandbox_usd`.
   */
  readonly defaultMerchantAccount?: string
}
