// biome-ignore lint/suspicious/noTsIgnore: an error is expected only where the SDK is missing
/** @ts-ignore The SDK is missing where another provider is used alone: its types are `any` there. */
import type braintree from 'braintree'
import { said } from '../../../values/arguments.ts'
import { faultOf, type MeteredPrice } from '../../../values/metered-price.ts'
import { isCurrency } from '../../../values/money.ts'
import { requireSecret } from '../../contract/secrets.ts'

/** The keys of a Braintree account. */
export interface BraintreeOptions {
  /** `sandbox`, `production`, or an Environment of the SDK. */
  readonly environment: 'sandbox' | 'production' | braintree.Environment
  /** Names the account. */
  readonly merchantId: string | undefined
  /** Of the API key. */
  readonly publicKey: string | undefined
  /** Of the API key. Keep it out of the repository. */
  readonly privateKey: string | undefined
  /** The merchant account's currency. Default `usd`. */
  readonly currency?: string
  /** Ids of the plans that are sold. Others are refused before any call, and `check()` looks for these. */
  readonly plans?: readonly string[]
  /** The discount made in the control panel for changes of frequency. Default `plan-credit`. */
  readonly planCredit?: string
  /** The custom field made in the control panel for `invoiceFor`. Default `description`. */
  readonly descriptionField?: string
  /**
   * What usage costs, by the name that it is reported under: we count it, and charge it when its period is over.
   * @example
   * metered: { calls: { included: 1000, unitAmount: '0.5' } } // half a cent for each beyond a thousand
   */
  readonly metered?: Readonly<Record<string, MeteredPrice>>
  /** Milliseconds a call may take. Default 30000. */
  readonly timeout?: number
}

/** The same with nothing missing. */
export interface BraintreeSettings extends BraintreeOptions {
  /** Names the account. */
  readonly merchantId: string
  /** Of the API key. */
  readonly publicKey: string
  /** Of the API key. Keep it out of the repository. */
  readonly privateKey: string
}

export function requireSettings(options: BraintreeOptions): BraintreeSettings {
  requireSecret('braintree.merchantId', options.merchantId)
  requireSecret('braintree.publicKey', options.publicKey)
  requireSecret('braintree.privateKey', options.privateKey)
  const { environment, currency = 'usd' } = options
  if (!isCurrency(currency)) {
    throw new TypeError("braintree.currency: expected a code of ISO 4217 such as 'usd'.")
  }
  if (
    environment !== 'sandbox' &&
    environment !== 'production' &&
    typeof environment !== 'object'
  ) {
    throw new TypeError("braintree.environment: expected 'sandbox' or 'production'.")
  }
  for (const [name, price] of Object.entries(said(options.metered ?? {}))) {
    const fault = faultOf(price)
    if (fault !== null) throw new TypeError(`braintree.metered.${name}: ${fault}.`)
  }
  return options as BraintreeSettings
}
