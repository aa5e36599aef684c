import { omitUndefined } from '../../core/values/arguments.ts'
import { findPriceFault, type MeteredPrice } from '../../core/values/metered-price.ts'
import { isCurrency } from '../../core/values/money.ts'
import type { braintree } from '../sdk-types.ts'
import { requireSecret } from '../secrets.ts'

/** API keys and settings of a Braintree account. */
export interface BraintreeOptions {
  /** `sandbox`, `production`, or an `Environment` of the SDK. */
  readonly environment: 'sandbox' | 'production' | braintree.Environment
  /** Merchant id of the account. */
  readonly merchantId: string | undefined
  /** Public key of the API key. */
  readonly publicKey: string | undefined
  /** Private key of the API key. Keep it out of the repository. */
  readonly privateKey: string | undefined
  /** Currency of the merchant account (ISO 4217). @default 'usd' */
  readonly currency?: string
  /**
   * Ids of the plans on sale. Other plans are rejected with UnknownPrice before any request is
   * sent; `billing.check()` reports missing ones.
   * @default all plans
   */
  readonly prices?: readonly string[]
  /**
   * Id of the discount, created in the control panel, that carries credit when a plan with another
   * billing frequency is chosen.
   * @default 'plan-credit'
   */
  readonly planCredit?: string
  /**
   * Name of the custom field, created in the control panel, that stores the description of
   * `invoiceFor()`.
   * @default 'description'
   */
  readonly descriptionField?: string
  /**
   * Prices of metered usage, by the meter's name. Billing counts the usage and charges it at the
   * end of each period.
   * @example
   * metered: { calls: { included: 1000, unitAmount: '0.5' } } // half a cent for each call beyond a thousand
   */
  readonly metered?: Readonly<Record<string, MeteredPrice>>
  /** Timeout of a request, in milliseconds. @default 30000 */
  readonly timeout?: number
}

/** Validated BraintreeOptions. */
export interface BraintreeSettings extends BraintreeOptions {
  /** Merchant id of the account. */
  readonly merchantId: string
  /** Public key of the API key. */
  readonly publicKey: string
  /** Private key of the API key. */
  readonly privateKey: string
}

export function requireBraintreeSettings(options: BraintreeOptions): BraintreeSettings {
  requireSecret('braintree.merchantId', options.merchantId)
  requireSecret('braintree.publicKey', options.publicKey)
  requireSecret('braintree.privateKey', options.privateKey)
  const { environment, currency = 'usd' } = options
  if (!isCurrency(currency)) {
    throw new TypeError("braintree.currency: expected an ISO 4217 code such as 'usd'.")
  }
  if (
    environment !== 'sandbox' &&
    environment !== 'production' &&
    typeof environment !== 'object'
  ) {
    throw new TypeError("braintree.environment: expected 'sandbox' or 'production'.")
  }
  for (const [name, price] of Object.entries(omitUndefined(options.metered ?? {}))) {
    const fault = findPriceFault(price)
    if (fault !== null) throw new TypeError(`braintree.metered.${name}: ${fault}.`)
  }
  return options as BraintreeSettings
}
