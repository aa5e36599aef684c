import type Stripe from 'stripe'
import type { Wire } from '../wire/wire.ts'
import type { WireObject } from '../wire/wire-object.ts'

/** What a table holds: the wire object, with what is rendered from elsewhere left out or as ids,
 * and what is ours alone in `$`, which is never sent. */

/**
 * A field that is rendered from elsewhere. Where a row is made with a place for it, V8 copies the row at once
 * instead of field by field.
 */
type Shown = undefined

export type CustomerRow = Omit<Wire<Stripe.Customer>, 'discount'> & {
  $: {
    discount: string | null
    deleted: boolean
    taxIds?: string[]
    /** Shown again, but the sandbox does not know where an address of the network is. */
    taxIp?: string
  }
}
export type PaymentMethodRow = Wire<Stripe.PaymentMethod> & {
  $: { behavior: string; detached: boolean; authenticated: boolean }
}
export type ProductRow = Wire<Stripe.Product>
export type PriceTier = Wire<Stripe.Price.Tier>
/** A price in another currency than its own. */
export interface CurrencyOption {
  readonly tax_behavior: Wire<Stripe.Price>['tax_behavior']
  readonly tiers?: PriceTier[]
  readonly unit_amount: number | null
  readonly unit_amount_decimal: string | null
}
export type PriceRow = Wire<Stripe.Price> & {
  $?: {
    deleted?: boolean
    currencyOptions?: Readonly<Record<string, CurrencyOption>>
    /** Sent only when they are expanded. */
    tiers?: PriceTier[]
    /** How usage that is recorded adds up, where there is no meter to say so. */
    aggregateUsage?: string
  }
}
export type CouponRow = Wire<Stripe.Coupon> & {
  $: {
    products: string[] | null
    deleted: boolean
    /** What it takes off in other currencies than its own. */
    currencyOptions?: Readonly<Record<string, { amount_off: number }>>
  }
}
export type PromotionCodeRow = Wire<Stripe.PromotionCode> & {
  $?: {
    /** Its minimum in other currencies than its own. */
    currencyOptions?: Record<string, { minimum_amount: number }>
  }
}
export type TaxRateRow = Wire<Stripe.TaxRate>
export type DiscountRow = Wire<Stripe.Discount> & { $: { ended: boolean } }
export type EventRow = {
  id: string
  object: 'event'
  type: string
  created: number
  /** The time on the test clock of whom it is about, where that is another. */
  at?: number
  /** `data.object` and `data.previous_attributes` as they were. */
  data: Readonly<WireObject>
  previous: Readonly<Record<string, unknown>> | null
  request: { id: string | null; idempotency_key: string | null } | null
  endpoints: number
}
export type WebhookEndpointRow = Wire<Stripe.WebhookEndpoint> & { $: { secret: string } }

/** The whole-period amount that unused time is credited from. */
export interface BilledPeriod {
  amount: number
  start: number
  end: number
  /** Where the paid part ends, when the subscription is to end before the period does. */
  until?: number
}
export type SubscriptionItemRow = Omit<
  Wire<Stripe.SubscriptionItem>,
  'price' | 'plan' | 'tax_rates'
> & {
  price: string
  tax_rates: readonly string[]
  $: {
    billed: BilledPeriod | null
    /** Usage is counted from here, where a metered price came after its period had begun. */
    usageFrom?: number
  }
  plan?: Shown
}
export interface SubscriptionPlanState {
  /** When the next thing happens to it, epoch seconds; null when nothing will. */
  nextAt: number | null
  trialNoticeSent: boolean
  incompleteUntil: number | null
  /** Schedules and pauses change this. */
  pausedAnchor: number | null
  pendingUpdateParams: string | null
  /** The period end whose `invoice.upcoming` was sent. */
  upcomingFor: number | null
}
export type SubscriptionRow = Omit<Wire<Stripe.Subscription>, 'items' | 'default_tax_rates'> & {
  default_tax_rates: readonly string[]
  $: SubscriptionPlanState
  items?: Shown
}
export type InvoiceRow = Omit<Wire<Stripe.Invoice>, 'lines' | 'default_tax_rates' | 'payments'> & {
  default_tax_rates: readonly string[]
  $: {
    subscription: string | null
    paymentIntent: string | null
    /** Epoch seconds of automatic finalization, then of the next automatic payment attempt. */
    nextAt: number | null
    offStripe: boolean
    voidAt: number | null
    creditNotes?: string[]
  }
  lines?: Shown
}
export type LineRow = Wire<Stripe.InvoiceLineItem> & {
  invoice: string
  $: {
    taxRates: string[] | null
    invoiceItem: string | null
    price: string | null
    product: string | null
    /** For a line that bills a subscription item's period. */
    item: string | null
    order: number
    /** Of an invoice item that says so itself; otherwise its price and product do. */
    taxBehavior?: string
    taxCode?: string
    /** For a line that bills usage: how much all lines of that item bill. Until finalization it may grow. */
    usage?: string
  }
}
export type InvoiceItemRow = Omit<Wire<Stripe.InvoiceItem>, 'tax_rates'> & {
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
export type InvoicePaymentRow = Wire<Stripe.InvoicePayment>
export type PaymentIntentRow = Wire<Stripe.PaymentIntent> & {
  $: {
    invoice: string | null
    /** A renewal is made without the customer too, but waits for them when the bank asks. */
    offSession: boolean | 'renewal'
    returnUrl: string | null
    /** The page itself shows the bank's question, instead of sending the customer away. */
    inPage?: boolean
    /** The 3-D Secure challenge was passed for this attempt. */
    authenticated: boolean
    checkout: string | null
  }
}
export type ChargeRow = Omit<Wire<Stripe.Charge>, 'refunds'> & { $?: { disputes: string[] } }
export type RefundRow = Wire<Stripe.Refund> & { $?: { nextAt: number } }
export type SetupIntentRow = Wire<Stripe.SetupIntent> & {
  $: {
    authenticated: boolean
    returnUrl: string | null
    inPage?: boolean
    subscription: string | null
    checkout: string | null
  }
}
export type CustomerBalanceTransactionRow = Wire<Stripe.CustomerBalanceTransaction>
/** What a payment or a refund did to the account's own money. */
export type BalanceTransactionRow = Wire<Stripe.BalanceTransaction>
export type TaxIdRow = Wire<Stripe.TaxId>
/** A note is never changed once issued but for its memo, so it holds its first lines itself. */
export type CreditNoteRow = Omit<Wire<Stripe.CreditNote>, 'lines'> & {
  lines: Readonly<{ object: 'list'; data: readonly WireObject[]; has_more: boolean; url: string }>
  $: { lines: string[] }
}
export type CreditNoteLineRow = Wire<Stripe.CreditNoteLineItem> & {
  /** A line of an invoice is credited by amounts or by quantities, never by both. */
  $: { creditNote: string; by: 'amount' | 'quantity' | null }
}
export type DisputeRow = Omit<Wire<Stripe.Dispute>, 'balance_transactions'> & {
  $: { moved: string[]; nextAt: number | null }
}
/** A card that somebody typed in. Its number is kept only as the test card that it is. */
export type TokenRow = Omit<Wire<Stripe.Token>, 'card'> & {
  card: WireObject
  $: { behavior: string; expires: { month: number; year: number }; hasCvc: boolean }
}
export type MeterRow = Wire<Stripe.Billing.Meter>
/** Stripe's have no id, only an identifier; ours is where the row is kept. */
export type MeterEventRow = Wire<Stripe.Billing.MeterEvent> & {
  id: string
  $: { meter: string; customer: string; value: string; cancelled: boolean }
}
export type MeterEventAdjustmentRow = Wire<Stripe.Billing.MeterEventAdjustment> & { id: string }
/** What was used at a moment; Stripe's SDK of today has no type for it. */
export interface UsageRecordRow {
  id: string
  object: 'usage_record'
  livemode: false
  quantity: number
  subscription_item: string
  timestamp: number
}
type WirePhase = Wire<Stripe.SubscriptionSchedule.Phase>
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
export type ScheduleRow = Omit<Wire<Stripe.SubscriptionSchedule>, 'phases'> & {
  phases: readonly Readonly<PhaseRow>[]
  $: {
    nextAt: number | null
    /** The end that was announced a week ahead. */
    announcedEnd?: number
  }
}
export type TestClockRow = Wire<Stripe.TestHelpers.TestClock> & {
  /** Where it is on its way; null while it stands. */
  $: { at: number | null }
}
/** A line item of a checkout; what it comes to is known once it was worked out. */
export interface CheckoutItem {
  price: string
  /** None for a metered price: what is used is billed. */
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
/** Which discount and which tax rate an amount is made of. */
export interface CheckoutParts {
  discounts: Array<{ amount: number; discount: string }>
  taxes: Array<{
    amount: number
    rate: string
    taxability_reason: string | null
    taxable_amount: number | null
  }>
}
export type CheckoutSessionRow = Omit<Wire<Stripe.Checkout.Session>, 'line_items'> & {
  $: {
    items: CheckoutItem[]
    params: string
    expiresNextAt: number | null
    /** Made by a version before basil: its subscription comes before the payment. */
    subscribesFirst?: boolean
    parts?: CheckoutParts
    /** The discounts that the parts name, as they would be until they are there. */
    discounts?: Record<string, DiscountRow>
  }
}
export type PortalSessionRow = Wire<Stripe.BillingPortal.Session> & {
  $: { token: string; flowDone?: boolean }
}
export type PortalConfigurationRow = Wire<Stripe.BillingPortal.Configuration>

/** An event whose webhook names it, and no more: what it says is read by its id, under `/v2`. */
export interface ThinEventRow {
  id: string
  object: 'v2.core.event'
  type: string
  livemode: false
  created: string
  related_object?: { id: string; type: string; url: string }
  /** The same event with all that it is about. */
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
  /** Seconds since 1970. */
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

/** A debit that the bank has not decided; the id is that of its payment intent. Nobody is sent it. */
export interface BankDebitRow {
  id: string
  object: 'bank_debit'
  customer: string | null
  settlesAt: number
  /** The same on the test clock of its customer, whichever of the two clocks gets there first. */
  onClock: { readonly clock: string; readonly settlesAt: number } | null
}

/** Every kind of row by the `object` it is sent as. */
export interface Rows {
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
export type Kind = keyof Rows
