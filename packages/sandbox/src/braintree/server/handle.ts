import type { ModificationDefinition, PlanDefinition } from '../catalog/control-panel.ts'
import type { SettingsRow } from '../state/rows/merchant.ts'
import type { ModificationRow, PlanRow, SubscriptionRow } from '../state/rows/subscriptions.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import type { AddressRow, CustomerRow, PaymentMethodRow } from '../state/rows/vault.ts'
import type { LoopbackEnvironment } from './loopback-environment.ts'
import type { NonceRequest } from './nonce-request.ts'

/** Configuration for Braintree's SDK: `new braintree.BraintreeGateway(config)`. */
export interface BraintreeConfig {
  /** The SDK's `Environment`, which points to the sandbox instead of Braintree. */
  readonly environment: LoopbackEnvironment
  /** Id of the merchant, as set in the sandbox's options, or the default id. */
  readonly merchantId: string
  /** Public API key of the merchant, as set in the sandbox's options, or the default key. */
  readonly publicKey: string
  /** The private API key, which also signs webhooks. */
  readonly privateKey: string
}

/** A merchant account as it is created in Braintree's control panel. */
export interface MerchantAccountDefinition {
  /** Id of the merchant account. */
  readonly id: string
  /** Currency of the account: three upper-case letters. */
  readonly currency: string
  /**
   * Whether the account supports `transaction.adjustAuthorization`.
   * @default false
   */
  readonly adjustsAuthorizations?: boolean
  /**
   * Whether the account supports `transaction.updateDetails`.
   * @default true
   */
  readonly updatesDetails?: boolean
  /**
   * Whether the account can refund a sale that is still settling.
   * @default true
   */
  readonly refundsSettling?: boolean
}

/**
 * Controls the sandbox's Braintree from a test: provides the SDK's configuration, changes settings
 * of the control panel, and reads the stored objects. Returned rows are copies, with amounts in
 * minor units and times in epoch milliseconds.
 */
export interface BraintreeHandle {
  /** Address of the sandbox's Braintree server: `http://127.0.0.1:<port>`. */
  readonly url: string
  /** Configuration for the SDK: `new braintree.BraintreeGateway(sandbox.braintree.config)`. */
  readonly config: BraintreeConfig
  /** Stops the sandbox's Braintree server only. Closing the sandbox stops it too. */
  close(): Promise<void>
  /**
   * Returns the handle of the merchant with this id: the first merchant, or one of the option
   * `merchants`.
   * @throws {RangeError} if there is no such merchant.
   */
  merchant(id: string): BraintreeHandle

  /** Creates a plan. If the plan exists, changes it for future subscriptions. */
  definePlan(plan: PlanDefinition): void
  /** Creates or changes an add-on. */
  defineAddOn(addOn: ModificationDefinition): void
  /** Creates or changes a discount. */
  defineDiscount(discount: ModificationDefinition): void
  /** Creates or changes a merchant account, for example for another currency. */
  defineMerchantAccount(account: MerchantAccountDefinition): void
  /** Returns the current settings of the control panel. */
  settings(): Readonly<SettingsRow>
  /**
   * Changes the given settings of the control panel and keeps all others.
   * @throws {TypeError} for values that the control panel does not offer.
   */
  changeSettings(changes: Partial<SettingsRow>): void
  /** Registers a webhook URL. It receives all notifications from now on. */
  registerWebhook(url: string): void
  /** Removes a webhook URL: no further notifications are sent to it. */
  removeWebhook(url: string): void
  /**
   * Sends Braintree's verification challenge to a webhook URL. Returns whether the URL answered
   * with the correct signature.
   */
  verifyWebhook(url: string): Promise<boolean>
  /**
   * Sends a notification now. Without `subjectId`, it has no subject, as the kind `check` requires.
   * Otherwise it is about the subscription, transaction or payment method with this id. A
   * `dispute_…` kind also opens or changes the dispute of the transaction.
   * @throws {RangeError} if no object has this id.
   */
  notify(kind: string, subjectId?: string): void

  /**
   * Creates a single-use nonce for a card or PayPal account, like the ones that browsers receive.
   */
  createNonce(request?: NonceRequest): string
  /**
   * Makes every charge of the payment method with this token fail with a code. `null` lets charges
   * succeed again.
   * @throws {RangeError} if there is no such payment method.
   */
  failCharges(token: string, code: string | null): void

  /** Returns all plans, oldest first. */
  plans(): ReadonlyArray<Readonly<PlanRow>>
  /** Returns all add-ons and discounts, oldest first. */
  modifications(): ReadonlyArray<Readonly<ModificationRow>>
  /** Returns the registered webhook URLs. */
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
