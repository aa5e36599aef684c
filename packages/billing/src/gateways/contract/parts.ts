import { Unsupported } from '../../errors.ts'
import type { ProviderName } from '../../provider-name.ts'
import type { AccountLists } from './parts/account-lists.ts'
import type { CustomerBalance } from './parts/money/balance.ts'
import type { CreditNotes } from './parts/money/credit-notes.ts'
import type { CustomerUpdates } from './parts/money/customer-details.ts'
import type { Disputes } from './parts/money/disputes.ts'
import type { InvoiceActions } from './parts/money/invoice-actions.ts'
import type { Payments } from './parts/money/payments.ts'
import type { PromotionCodes } from './parts/money/promotion-codes.ts'
import type { Refunds } from './parts/money/refunds.ts'
import type { AutomaticTax, LineRates, TaxExemptions } from './parts/money/tax.ts'
import type { TaxIds } from './parts/money/tax-ids.ts'
import type { UsageCharges, UsageReports } from './parts/money/usage.ts'
import type { CheckoutPages } from './parts/pages/checkout.ts'
import type { ClientTokens } from './parts/pages/client-tokens.ts'
import type { PaymentMethods } from './parts/pages/payment-methods.ts'
import type { PortalPages } from './parts/pages/portal.ts'
import type { CardSetups } from './parts/pages/setups.ts'
import type { Confirmations } from './parts/subscriptions/confirmations.ts'
import type { EndDates } from './parts/subscriptions/end-dates.ts'
import type { Forecasts } from './parts/subscriptions/forecasts.ts'
import type { SubscriptionItems } from './parts/subscriptions/items.ts'
import type { Pauses } from './parts/subscriptions/pauses.ts'
import type { Quantities } from './parts/subscriptions/quantities.ts'
import type { Replacements } from './parts/subscriptions/replacements.ts'
import type { Schedules } from './parts/subscriptions/schedules.ts'
import type { Trials } from './parts/subscriptions/trials.ts'
import type { WebhookEndpoints } from './parts/webhook-endpoints.ts'

/**
 * What some providers can do and others cannot. Each is optional and has an interface of its own, so a
 * gateway that lacks it stays as it is. One that only adds terms to `createSubscription` is `true`.
 */
export interface GatewayParts {
  /** Several of one plan. */
  readonly quantities: Quantities
  /** Payments that the customer has to confirm at their bank. */
  readonly confirmations: Confirmations
  /** Swaps that need another subscription in place of the old one. */
  readonly replacements: Replacements
  /** Several prices in one subscription. */
  readonly items: SubscriptionItems
  /** Changes at a later date. */
  readonly schedules: Schedules
  /** Subscriptions that nobody pays for a while. */
  readonly pauses: Pauses
  /** Subscriptions that end on any day. */
  readonly endDates: EndDates
  /** Trials whose end can be moved. */
  readonly trials: Trials
  /** New subscriptions that are billed whole from a day on: `anchorAt`, and `prorate` for the time before. */
  readonly anchors: true
  /** New subscriptions that began in the past: `backdateTo`, and `prorate` for the time since. */
  readonly backdating: true
  /** New subscriptions without a card, while they cost nothing: `withoutCard`. */
  readonly freeStarts: true
  /** Bills that are still to come. */
  readonly forecasts: Forecasts

  /** Pages of the provider's on which customers pay. */
  readonly checkout: CheckoutPages
  /** Pages of the provider's on which customers look after their subscriptions. */
  readonly portal: PortalPages
  /** Cards that are kept without a payment. */
  readonly setups: CardSetups
  /** Tokens for the provider's form in the browser. */
  readonly clientTokens: ClientTokens
  /** All that a customer can pay with. */
  readonly paymentMethods: PaymentMethods

  /** Money that goes back. */
  readonly refunds: Refunds
  /** Documents that take an invoice back. */
  readonly creditNotes: CreditNotes
  /** What a customer has in credit. */
  readonly balance: CustomerBalance
  /** What can be done with an invoice that is not paid. */
  readonly invoiceActions: InvoiceActions
  /** Payments themselves, paid or not. */
  readonly payments: Payments
  /** Charges that were asked back from a bank. */
  readonly disputes: Disputes
  /** Codes that people type. */
  readonly promotionCodes: PromotionCodes
  /** Taxes by the customer's address. */
  readonly automaticTax: AutomaticTax
  /** Rates of the provider's own for each price. */
  readonly lineRates: LineRates
  /** Tax ids of customers. */
  readonly taxIds: TaxIds
  /** Customers who pay no tax. */
  readonly taxExemptions: TaxExemptions
  /** What was used: counted by the provider, or by us and charged there. */
  readonly usage: UsageReports | UsageCharges
  /** Prices of the provider's own that are billed by usage, in a subscription: their quantity is null. */
  readonly meteredPrices: true
  /** Customers who can be changed after they were made. */
  readonly customerDetails: CustomerUpdates
  /** Customers whose language is known: `locale` of those who are made or changed. */
  readonly languages: true

  /** Many customers and subscriptions at a time. */
  readonly lists: AccountLists
  /** Addresses for events that can be registered by a program. */
  readonly webhookEndpoints: WebhookEndpoints
}

/** The name of a part. */
export type Capability = keyof GatewayParts

/** The methods of each part that change nothing. Those of the others need the user's lock. */
interface ReadingMethods {
  readonly confirmations: 'find' | 'findOfInvoice' | 'list' | 'isAwaiting'
  readonly replacements: 'isNeeded'
  readonly items: 'preview'
  readonly forecasts: keyof Forecasts
  readonly checkout: 'find' | 'findByOperation'
  readonly setups: 'find'
  readonly paymentMethods: 'list' | 'isInUse'
  readonly refunds: 'find' | 'list' | 'findByKey'
  readonly creditNotes: 'list' | 'listByInvoice' | 'find' | 'findByKey'
  readonly balance: 'read' | 'list' | 'findByKey'
  readonly payments: keyof Payments
  readonly promotionCodes: 'find'
  readonly disputes: keyof Disputes
  readonly taxIds: 'list'
  readonly taxExemptions: 'read'
  readonly lists: keyof AccountLists
  readonly webhookEndpoints: 'list' | 'eachEvent'
}

/** The parts, as far as they change nothing. */
export type ReadingParts = {
  readonly [Part in keyof ReadingMethods]?: Pick<
    GatewayParts[Part],
    ReadingMethods[Part] & keyof GatewayParts[Part]
  >
}

/** The part, or Unsupported where the provider has none. No call was made by then. */
export function requirePart<Name extends Capability>(
  gateway: { readonly name: ProviderName } & Partial<GatewayParts>,
  part: Name,
): GatewayParts[Name] {
  const found = gateway[part]
  if (found) return found as GatewayParts[Name]
  throw unsupported(gateway.name, part)
}

/** The same, before the provider's SDK is loaded. */
export function requireCapability(
  provider: { readonly name: ProviderName; readonly can: readonly Capability[] },
  capability: Capability,
): void {
  if (!provider.can.includes(capability)) throw unsupported(provider.name, capability)
}

function unsupported(provider: ProviderName, capability: Capability): Unsupported {
  return new Unsupported(`${provider} has no ${capability}`, { provider, capability })
}
