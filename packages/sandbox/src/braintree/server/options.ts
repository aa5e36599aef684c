/** How Braintree starts in a sandbox. */
export interface BraintreeOptions extends BraintreeMerchantOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** `sandbox_merchant` unless told. */
  readonly merchantId?: string
  /** `sandbox_public_key` unless told. */
  readonly publicKey?: string
  /** `sandbox_private_key` unless told. Calls and webhooks are signed with it. */
  readonly privateKey?: string
  /** Where notifications of the first merchant are sent from the start. */
  readonly webhooks?: readonly string[]
  /** More merchants on the same server, each with its own keys, vault and control panel. */
  readonly merchants?: readonly BraintreeMerchant[]
}

/** One more merchant. `sandbox.braintree.merchant(id)` is its handle. */
export interface BraintreeMerchant extends BraintreeMerchantOptions {
  /** In the path of every call. */
  readonly merchantId: string
  /** Unlike that of any other merchant. */
  readonly publicKey: string
  /** Calls and webhooks are signed with it. */
  readonly privateKey: string
}

/** What a merchant begins with. A restored state keeps its own. */
export interface BraintreeMerchantOptions {
  /** Of the default merchant account; `USD` unless told. */
  readonly currency?: string
  /** The id of the default merchant account; `sandbox_usd` (or the currency) unless told. */
  readonly defaultMerchantAccount?: string
}
