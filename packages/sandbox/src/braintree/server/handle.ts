import type { ModificationDefinition, PlanDefinition } from '../catalog/control-panel.ts'
import type { SettingsRow } from '../state/rows/merchant.ts'
import type { ModificationRow, PlanRow, SubscriptionRow } from '../state/rows/subscriptions.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import type { AddressRow, CustomerRow, PaymentMethodRow } from '../state/rows/vault.ts'
import type { LoopbackEnvironment } from './loopback-environment.ts'
import type { NonceRequest } from './nonce-request.ts'

/** Ready for `new braintree.BraintreeGateway(config)`. */
export interface BraintreeConfig {
  /** What the SDK calls an environment, pointing at the sandbox. */
  readonly environment: LoopbackEnvironment
  /** As `BraintreeOptions` said, or its default. */
  readonly merchantId: string
  /** As `BraintreeOptions` said, or its default. */
  readonly publicKey: string
  /** Signs webhooks too. */
  readonly privateKey: string
}

/** A merchant account as the control panel would define it. */
export interface MerchantAccountDefinition {
  /** What calls name it by. */
  readonly id: string
  /** Three letters, upper case: what it is paid in. */
  readonly currency: string
  /** Whether `adjustAuthorization` works there; it does not unless told. */
  readonly adjustsAuthorizations?: boolean
  /** Whether `updateDetails` works there; it does unless told. */
  readonly updatesDetails?: boolean
  /** Whether a sale can be refunded there while it settles; it can unless told. */
  readonly refundsSettling?: boolean
}

/**
 * Braintree as a test holds it: the SDK's settings, the control panel, and a look behind the
 * counter. What it shows are copies, in our own words: amounts in minor units, instants in epoch
 * milliseconds.
 */
export interface BraintreeHandle {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** `new braintree.BraintreeGateway(sandbox.braintree.config)` */
  readonly config: BraintreeConfig
  /** Stops this server only; closing the sandbox does so too. */
  close(): Promise<void>
  /** The handle of any merchant of `merchants`, or of this one. */
  merchant(id: string): BraintreeHandle

  /** Makes a plan, or changes the one of that id for subscriptions to come. */
  definePlan(plan: PlanDefinition): void
  /** Makes an add-on, or changes the one of that id. */
  defineAddOn(addOn: ModificationDefinition): void
  /** Makes a discount, or changes the one of that id. */
  defineDiscount(discount: ModificationDefinition): void
  /** One more merchant account, for charges in another currency. */
  defineMerchantAccount(account: MerchantAccountDefinition): void
  /** The control panel's choices as they are now. */
  settings(): Readonly<SettingsRow>
  /** Changes what is named; throws a `TypeError` for what the control panel would not offer. */
  changeSettings(changes: Partial<SettingsRow>): void
  /** Sends every notification to this URL from now on. */
  registerWebhook(url: string): void
  /** Stops sending there. */
  removeWebhook(url: string): void
  /** Sends the challenge; true when the URL answers it with the right signature. */
  verifyWebhook(url: string): Promise<boolean>
  /**
   * Sends a notification on demand: `check` without a subject, or any kind about a subscription,
   * transaction (a `dispute_…` kind disputes it) or payment method.
   */
  notify(kind: string, subjectId?: string): void

  /** What a browser would get for a card or PayPal account. It works once. */
  createNonce(request?: NonceRequest): string
  /** Every charge of the method fails with the code until it is set to null. */
  failCharges(token: string, code: string | null): void

  /** All plans, oldest first. */
  plans(): ReadonlyArray<Readonly<PlanRow>>
  /** All add-ons and discounts, oldest first. */
  modifications(): ReadonlyArray<Readonly<ModificationRow>>
  /** The URLs that notifications are sent to. */
  webhooks(): readonly string[]
  /** The customer of this id; null when it was deleted. */
  customer(id: string): Readonly<CustomerRow> | null
  /** All customers, oldest first. */
  customers(): ReadonlyArray<Readonly<CustomerRow>>
  /** A customer's addresses, oldest first. */
  addresses(customerId: string): ReadonlyArray<Readonly<AddressRow>>
  /** What is in a customer's vault, oldest first. */
  paymentMethods(customerId: string): ReadonlyArray<Readonly<PaymentMethodRow>>
  /** The subscription of this id, whatever its status. */
  subscription(id: string): Readonly<SubscriptionRow> | null
  /** Of one customer or of all, oldest first, those that have ended too. */
  subscriptions(customerId?: string): ReadonlyArray<Readonly<SubscriptionRow>>
  /** Of one customer or of all, oldest first: sales, refunds, and what was declined. */
  transactions(customerId?: string): ReadonlyArray<Readonly<TransactionRow>>
}
