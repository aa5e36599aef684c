import type { ModificationDefinition, PlanDefinition } from '../catalog/control-panel.ts'
import type { SettingsRow } from '../state/rows/merchant.ts'
import type { ModificationRow, PlanRow, SubscriptionRow } from '../state/rows/subscriptions.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import type { AddressRow, CustomerRow, PaymentMethodRow } from '../state/rows/vault.ts'
import type { LoopbackEnvironment } from './loopback-environment.ts'
import type { NonceRequest } from './nonce-request.ts'

/** Configuration for `new braintree.BraintreeGateway(config)`. */
export interface BraintreeConfig {
  /** The SDK's `Environment`, pointing at the sandbox. */
  readonly environment: LoopbackEnvironment
  /** Merchant id from `BraintreeOptions`, or its default. */
  readonly merchantId: string
  /** Public key from `BraintreeOptions`, or its default. */
  readonly publicKey: string
  /** Private key, which also signs webhooks. */
  readonly privateKey: string
}

/** A merchant account of the control panel. */
export interface MerchantAccountDefinition {
  /** Id of the merchant account. */
  readonly id: string
  /** Currency of the account: three upper-case letters. */
  readonly currency: string
  /** Whether `adjustAuthorization` is supported. @default false */
  readonly adjustsAuthorizations?: boolean
  /** Whether `updateDetails` is supported. @default true */
  readonly updatesDetails?: boolean
  /** Whether a sale can be refunded while it is settling. @default true */
  readonly refundsSettling?: boolean
}

/**
 * Controls the Braintree sandbox from a test: the SDK's configuration, the control panel, and read
 * access to the state. The rows it returns are copies. Their amounts are in minor units, their
 * times in epoch milliseconds.
 */
export interface BraintreeHandle {
  /** Address of the server: `http://127.0.0.1:<port>`. */
  readonly url: string
  /** Configuration for the SDK: `new braintree.BraintreeGateway(sandbox.braintree.config)`. */
  readonly config: BraintreeConfig
  /** Stops this server. Closing the sandbox does this too. */
  close(): Promise<void>
  /**
   * Returns the handle of a merchant in `merchants`, or of the first one.
   * @throws {RangeError} if there is no such merchant.
   */
  merchant(id: string): BraintreeHandle

  /** Creates a plan, or changes an existing one for future subscriptions. */
  definePlan(plan: PlanDefinition): void
  /** Creates or changes an add-on. */
  defineAddOn(addOn: ModificationDefinition): void
  /** Creates or changes a discount. */
  defineDiscount(discount: ModificationDefinition): void
  /** Creates or changes a merchant account, for example for another currency. */
  defineMerchantAccount(account: MerchantAccountDefinition): void
  /** Returns the present settings of the control panel. */
  settings(): Readonly<SettingsRow>
  /**
   * Changes the named settings of the control panel.
   * @throws {TypeError} for values that the control panel does not offer.
   */
  changeSettings(changes: Partial<SettingsRow>): void
  /** Sends all notifications to this URL from now on. */
  registerWebhook(url: string): void
  /** Stops sending notifications to this URL. */
  removeWebhook(url: string): void
  /**
   * Sends the verification challenge. Returns whether the URL answered with the correct signature.
   */
  verifyWebhook(url: string): Promise<boolean>
  /**
   * Sends a notification: `check` without a subject, or any kind about the subscription,
   * transaction or payment method with this id. A `dispute_…` kind also changes the dispute of the
   * transaction.
   * @throws {RangeError} if no object has this id.
   */
  notify(kind: string, subjectId?: string): void

  /**
   * Creates a single-use nonce for a card or PayPal account, like the ones that browsers receive.
   */
  createNonce(request?: NonceRequest): string
  /**
   * Makes every charge of the payment method fail with this code. `null` ends this.
   * @throws {RangeError} if there is no such payment method.
   */
  failCharges(token: string, code: string | null): void

  /** Returns all plans, oldest first. */
  plans(): ReadonlyArray<Readonly<PlanRow>>
  /** Returns all add-ons and discounts, oldest first. */
  modifications(): ReadonlyArray<Readonly<ModificationRow>>
  /** Returns the URLs that receive notifications. */
  webhooks(): readonly string[]
  /** Returns a customer, or `null` if there is none with this id. */
  customer(id: string): Readonly<CustomerRow> | null
  /** Returns all customers, oldest first. */
  customers(): ReadonlyArray<Readonly<CustomerRow>>
  /** Returns a customer's addresses, oldest first. */
  addresses(customerId: string): ReadonlyArray<Readonly<AddressRow>>
  /** Returns a customer's payment methods in the vault, oldest first. */
  paymentMethods(customerId: string): ReadonlyArray<Readonly<PaymentMethodRow>>
  /** Returns a subscription of any status, or `null` if there is none with this id. */
  subscription(id: string): Readonly<SubscriptionRow> | null
  /**
   * Returns the subscriptions of a customer, or of all customers, oldest first. Includes ended
   * ones.
   */
  subscriptions(customerId?: string): ReadonlyArray<Readonly<SubscriptionRow>>
  /**
   * Returns the transactions of a customer, or of all customers, oldest first: sales and refunds,
   * including declined ones.
   */
  transactions(customerId?: string): ReadonlyArray<Readonly<TransactionRow>>
}
