/** How Braintree starts in a sandbox. */
export interface BraintreeOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** `sandbox_merchant` unless told. */
  readonly merchantId?: string
  /** `sandbox_public_key` unless told. */
  readonly publicKey?: string
  /** `sandbox_private_key` unless told. Calls and webhooks are signed with it. */
  readonly privateKey?: string
  /** Of the default merchant account; `USD` unless told. A restored state keeps its own. */
  readonly currency?: string
}
