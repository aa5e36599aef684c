import type Stripe from 'stripe'
import type { WireFormat } from '../wire/wire.ts'
import type { WireObject } from '../wire/wire-object.ts'

/**
 * Rows of the tables: the API's objects, in which fields computed from other rows are absent or
 * ids, plus internal state in `$`, which is never sent.
 */

/**
 * A field that is computed when the row is rendered. Declaring it in new rows lets V8 copy them in
 * one step instead of field by field.
 */
type Shown = undefined

export type CustomerRow = Omit<WireFormat<Stripe.Customer>, 'discount'> & {
  $: {
    discount: string | null
    deleted: boolean
    taxIds?: string[]
    /**
     * IP address for the tax location. The API returns it, but the sandbox cannot derive a location
     * from it.
     */
    taxIp?: string
  }
}
export type PaymentMethodRow = WireFormat<Stripe.PaymentMethod> & {
  $: { behavior: string; detached: boolean; authenticated: boolean }
}
export type ProductRow = WireFormat<Stripe.Product>
export type PriceTier = WireFormat<Stripe.Price.Tier>
/** The amount of a price in an additional currency. */
export interface CurrencyOption {
  readonly tax_behavior: WireFormat<Stripe.Price>['tax_behavior']
  readonly tiers?: PriceTier[]
  readonly unit_amount: number | null
  readonly unit_amount_decimal: string | null
}
export type PriceRow = WireFormat<Stripe.Price> & {
  $?: {
    deleted?: boolean
    currencyOptions?: Readonly<Record<string, CurrencyOption>>
    /** Tiers of the price. Rendered only when expanded. */
    tiers?: PriceTier[]
    /** Aggregation of usage records, for a metered price without a meter. */
    aggregateUsage?: string
  }
}
export type CouponRow = WireFormat<Stripe.Coupon> & {
  $: {
    products: string[] | null
    deleted: boolean
    /** Fixed discounts in other currencies. */
    currencyOptions?: Readonly<Record<string, { amount_off: number }>>
  }
}
export type PromotionCodeRow = WireFormat<Stripe.PromotionCode> & {
  $?: {
    /** Minimum amounts in other currencies. */
    currencyOptions?: Record<string, { minimum_amount: number }>
  }
}
export type TaxRateRow = WireFormat<Stripe.TaxRate>
export type DiscountRow = WireFormat<Stripe.Discount> & { $: { ended: boolean } }
export type EventRow = {
  id: string
  object: 'event'
  type: string
  created: number
  /** Time of the test clock the event happened on, if it differs from `created`. */
  at?: number
  /** `data.object` and `data.previous_attributes` at the time of the event. */
  data: Readonly<WireObject>
  previous: Readonly<Record<string, unknown>> | null
  request: { id: string | null; idempotency_key: string | null } | null
  endpoints: number
}
export type WebhookEndpointRow = WireFormat<Stripe.WebhookEndpoint> & { $: { secret: string } }

/**
 * The amount that was billed for a whole period. Credits for unused time are calculated from it.
 */
export interface BilledPeriod {
  amount: number
  start: number
  end: number
  /** End of the paid part in Unix seconds, if the subscription ends before the period does. */
  until?: number
}
export type SubscriptionItemRow = Omit<
  WireFormat<Stripe.SubscriptionItem>,
  'price' | 'plan' | 'tax_rates'
> & {
  price: string
  tax_rates: readonly string[]
  $: {
    billed: BilledPeriod | null
    /**
     * Time from which usage counts, in Unix seconds. Set if a metered price was added during the
     * period.
     */
    usageFrom?: number
  }
  plan?: Shown
}
export interface SubscriptionPlanState {
  /**
   * When the next scheduled change of the subscription is due, in Unix seconds. `null` if none is
   * scheduled.
   */
  nextAt: number | null
  trialNoticeSent: boolean
  incompleteUntil: number | null
  pendingUpdateParams: string | null
  /**
   * End of the period for which `invoice.upcoming` was sent last, in Unix seconds. `null` if it was
   * never sent.
   */
  upcomingFor: number | null
}
export type SubscriptionRow = Omit<
  WireFormat<Stripe.Subscription>,
  'items' | 'default_tax_rates'
> & {
  default_tax_rates: readonly string[]
  $: SubscriptionPlanState
  items?: Shown
}
export type InvoiceRow = Omit<
  WireFormat<Stripe.Invoice>,
  'lines' | 'default_tax_rates' | 'payments'
> & {
  default_tax_rates: readonly string[]
  $: {
    subscription: string | null
    paymentIntent: string | null
    /**
     * When the invoice is finalized or its next automatic payment attempt is due, in Unix seconds.
     */
    nextAt: number | null
    creditNotes?: string[]
  }
  lines?: Shown
}
export type LineRow = WireFormat<Stripe.InvoiceLineItem> & {
  invoice: string
  $: {
    taxRates: string[] | null
    invoiceItem: string | null
    price: string | null
    product: string | null
    /** The subscription item whose period this line bills. */
    item: string | null
    order: number
    /**
     * Tax behavior that the invoice item names. If it names none, the price and product determine
     * the tax behavior.
     */
    taxBehavior?: string
    taxCode?: string
    /** Total usage billed by all lines of the item. May grow until the invoice is finalized. */
    usage?: string
  }
}
export type InvoiceItemRow = Omit<WireFormat<Stripe.InvoiceItem>, 'tax_rates'> & {
  tax_rates: readonly string[] | null
  $: {
    price: string | null
    product: string | null
    subscription: string | null
    item: string | null
    taxBehavior?: string
    taxCode?: string
  }
}
export type InvoicePaymentRow = WireFormat<Stripe.InvoicePayment>
export type PaymentIntentRow = WireFormat<Stripe.PaymentIntent> & {
  $: {
    invoice: string | null
    /**
     * Whether the customer is absent. A `renewal` is off-session, too, but waits for the customer
     * if the bank requires authentication.
     */
    offSession: boolean | 'renewal'
    returnUrl: string | null
    /**
     * Whether the page shows the 3-D Secure challenge itself instead of redirecting the customer.
     */
    inPage?: boolean
    /** Whether the 3-D Secure challenge was passed for this attempt. */
    authenticated: boolean
    checkout: string | null
    /** When an uncaptured authorization expires, in Unix seconds. */
    captureBefore?: number
  }
}
export type ChargeRow = Omit<WireFormat<Stripe.Charge>, 'refunds'> & { $?: { disputes: string[] } }
export type RefundRow = WireFormat<Stripe.Refund> & { $?: { nextAt: number } }
export type SetupIntentRow = WireFormat<Stripe.SetupIntent> & {
  $: {
    authenticated: boolean
    returnUrl: string | null
    inPage?: boolean
    subscription: string | null
    checkout: string | null
  }
}
export type CustomerBalanceTransactionRow = WireFormat<Stripe.CustomerBalanceTransaction>
/** A balance transaction: the effect of a payment, refund or dispute on the account's balance. */
export type BalanceTransactionRow = WireFormat<Stripe.BalanceTransaction>
export type TaxIdRow = WireFormat<Stripe.TaxId>
/**
 * A credit note, as the sandbox stores it. It never changes, except for its memo and status, so the
 * row contains the first lines as they are rendered.
 */
export type CreditNoteRow = Omit<WireFormat<Stripe.CreditNote>, 'lines'> & {
  lines: Readonly<{ object: 'list'; data: readonly WireObject[]; has_more: boolean; url: string }>
  $: { lines: string[] }
}
export type CreditNoteLineRow = WireFormat<Stripe.CreditNoteLineItem> & {
  /** An invoice line is credited either by amount or by quantity, never by both. */
  $: { creditNote: string; by: 'amount' | 'quantity' | null }
}
export type DisputeRow = Omit<WireFormat<Stripe.Dispute>, 'balance_transactions'> & {
  $: { moved: string[]; nextAt: number | null }
}
/**
 * The token of a card that was typed into a page, as the sandbox stores it: with the name of the
 * test card instead of its number.
 */
export type TokenRow = Omit<WireFormat<Stripe.Token>, 'card'> & {
  card: WireObject
  $: { behavior: string; expires: { month: number; year: number }; hasCvc: boolean }
}
export type MeterRow = WireFormat<Stripe.Billing.Meter>
/**
 * A meter event, as the sandbox stores it. The id is internal: at Stripe, a meter event has only an
 * identifier.
 */
export type MeterEventRow = WireFormat<Stripe.Billing.MeterEvent> & {
  id: string
  $: { meter: string; customer: string; value: string; cancelled: boolean }
}
export type MeterEventAdjustmentRow = WireFormat<Stripe.Billing.MeterEventAdjustment> & {
  id: string
}
/**
 * A usage record: usage reported for a time. Current versions of Stripe's SDK have no type for it.
 */
export interface UsageRecordRow {
  id: string
  object: 'usage_record'
  livemode: false
  quantity: number
  subscription_item: string
  timestamp: number
}
type WirePhase = WireFormat<Stripe.SubscriptionSchedule.Phase>
export type PhaseItemRow = Omit<WirePhase['items'][number], 'tax_rates'> & {
  tax_rates: readonly string[]
}
export type AddedItemRow = Omit<WirePhase['add_invoice_items'][number], 'tax_rates'> & {
  tax_rates: readonly string[]
}
export type PhaseRow = Omit<WirePhase, 'add_invoice_items' | 'default_tax_rates' | 'items'> & {
  add_invoice_items: readonly AddedItemRow[]
  default_tax_rates: readonly string[]
  items: readonly PhaseItemRow[]
}
export type ScheduleRow = Omit<WireFormat<Stripe.SubscriptionSchedule>, 'phases'> & {
  phases: readonly Readonly<PhaseRow>[]
  $: {
    nextAt: number | null
    /**
     * The end of the schedule that was announced a week ahead by `subscription_schedule.expiring`.
     */
    announcedEnd?: number
  }
}
export type TestClockRow = WireFormat<Stripe.TestHelpers.TestClock> & {
  /** Time reached while the clock is advancing, in Unix seconds. `null` otherwise. */
  $: { at: number | null }
}
/** A line item of a checkout session. `amounts` is set once the amounts are calculated. */
export interface CheckoutItem {
  price: string
  /** Number of units. `null` for a metered price, which is billed by usage. */
  quantity: number | null
  taxRates?: string[]
  adjustable?: { minimum: number; maximum: number }
  metadata?: Record<string, string>
  amounts?: CheckoutAmounts
}
export interface CheckoutAmounts {
  subtotal: number
  discount: number
  tax: number
  total: number
  parts: CheckoutParts
}
/** The discounts and taxes that an amount of a checkout session contains. */
export interface CheckoutParts {
  discounts: Array<{ amount: number; discount: string }>
  taxes: Array<{
    amount: number
    rate: string
    taxability_reason: string | null
    taxable_amount: number | null
  }>
}
export type CheckoutSessionRow = Omit<WireFormat<Stripe.Checkout.Session>, 'line_items'> & {
  $: {
    items: CheckoutItem[]
    params: string
    expiresNextAt: number | null
    /**
     * Whether the session was created with an API version before basil: its subscription is created
     * before the payment.
     */
    subscribesFirst?: boolean
    parts?: CheckoutParts
    /** Preliminary discounts that `parts` refers to, until they are redeemed. */
    discounts?: Record<string, DiscountRow>
  }
}
export type PortalSessionRow = WireFormat<Stripe.BillingPortal.Session> & {
  $: { token: string; flowDone?: boolean }
}
export type PortalConfigurationRow = WireFormat<Stripe.BillingPortal.Configuration>

/**
 * A thin event of the `/v2` API: its webhook contains only ids, and receivers read its data from
 * the API.
 */
export interface ThinEventRow {
  id: string
  object: 'v2.core.event'
  type: string
  livemode: false
  created: string
  related_object?: { id: string; type: string; url: string }
  /** Id of the ordinary event about the same change, which contains the full object. */
  snapshot_event?: string
  reason?: { type: 'request'; request: { id: string; idempotency_key: string } }
  data?: object
}

export interface MeterEventSessionRow {
  id: string
  object: 'v2.billing.meter_event_session'
  authentication_token: string
  created: string
  expires_at: string
  livemode: false
  /** Internal field: when the session token expires, in Unix seconds. */
  $: { expires: number }
}

export interface EventDestinationRow {
  id: string
  object: 'v2.core.event_destination'
  created: string
  description: string
  enabled_events: string[]
  event_payload: 'snapshot' | 'thin'
  events_from: string[]
  livemode: false
  metadata: Record<string, string>
  name: string
  snapshot_api_version?: string
  status: 'enabled' | 'disabled'
  status_details?: { disabled: { reason: 'user' } }
  type: 'webhook_endpoint'
  updated: string
  $: { url: string; secret: string }
}

/**
 * A bank debit on which the bank has not decided yet, stored under the id of its payment intent.
 * Internal, never sent.
 */
export interface BankDebitRow {
  id: string
  object: 'bank_debit'
  customer: string | null
  settlesAt: number
  /**
   * Time of the bank's decision on the customer's test clock. The bank decides when this clock
   * reaches `settlesAt`, or the sandbox's own clock reaches its own time for the decision,
   * whichever is first. `null` if the customer is on no test clock.
   */
  onClock: { readonly clock: string; readonly settlesAt: number } | null
}

/** All kinds of stored rows, by the value of their field `object`. */
export interface StripeRows {
  balance_transaction: BalanceTransactionRow
  bank_debit: BankDebitRow
  'billing.meter': MeterRow
  'billing.meter_event': MeterEventRow
  'billing.meter_event_adjustment': MeterEventAdjustmentRow
  'billing_portal.configuration': PortalConfigurationRow
  'billing_portal.session': PortalSessionRow
  charge: ChargeRow
  'checkout.session': CheckoutSessionRow
  coupon: CouponRow
  credit_note: CreditNoteRow
  credit_note_line_item: CreditNoteLineRow
  customer: CustomerRow
  customer_balance_transaction: CustomerBalanceTransactionRow
  discount: DiscountRow
  dispute: DisputeRow
  event: EventRow
  invoice: InvoiceRow
  invoice_payment: InvoicePaymentRow
  invoiceitem: InvoiceItemRow
  line_item: LineRow
  payment_intent: PaymentIntentRow
  payment_method: PaymentMethodRow
  price: PriceRow
  product: ProductRow
  promotion_code: PromotionCodeRow
  refund: RefundRow
  setup_intent: SetupIntentRow
  subscription: SubscriptionRow
  subscription_item: SubscriptionItemRow
  subscription_schedule: ScheduleRow
  tax_id: TaxIdRow
  tax_rate: TaxRateRow
  'test_helpers.test_clock': TestClockRow
  token: TokenRow
  usage_record: UsageRecordRow
  'v2.billing.meter_event_session': MeterEventSessionRow
  'v2.core.event': ThinEventRow
  'v2.core.event_destination': EventDestinationRow
  webhook_endpoint: WebhookEndpointRow
}
export type RowKind = keyof StripeRows
