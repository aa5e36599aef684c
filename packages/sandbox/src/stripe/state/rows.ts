import type Stripe from 'stripe'
import type { Wire } from '../wire/wire.ts'

/** What a table holds: the wire object, with what is rendered from elsewhere left out or as ids,
 * and what is ours alone in `$`, which is never sent. */

export type CustomerRow = Omit<Wire<Stripe.Customer>, 'discount'> & {
  $: { discount: string | null; deleted: boolean }
}
export type PaymentMethodRow = Wire<Stripe.PaymentMethod> & {
  $: { behavior: string; detached: boolean; authenticated: boolean }
}
export type ProductRow = Wire<Stripe.Product>
export type PriceRow = Wire<Stripe.Price>
export type CouponRow = Wire<Stripe.Coupon> & { $: { products: string[] | null; deleted: boolean } }
export type PromotionCodeRow = Wire<Stripe.PromotionCode>
export type TaxRateRow = Wire<Stripe.TaxRate>
export type DiscountRow = Wire<Stripe.Discount> & { $: { ended: boolean } }
export type EventRow = {
  id: string
  object: 'event'
  type: string
  created: number
  /** JSON of data.object and of data.previous_attributes as they were. */
  data: string
  previous: string | null
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
  tax_rates: string[]
  $: { billed: BilledPeriod | null }
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
  default_tax_rates: string[]
  $: SubscriptionPlanState
}
export type InvoiceRow = Omit<Wire<Stripe.Invoice>, 'lines' | 'default_tax_rates' | 'payments'> & {
  default_tax_rates: string[]
  $: {
    subscription: string | null
    paymentIntent: string | null
    /** Epoch seconds of automatic finalization, then of the next automatic payment attempt. */
    nextAt: number | null
    offStripe: boolean
    voidAt: number | null
  }
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
  }
}
export type InvoiceItemRow = Omit<Wire<Stripe.InvoiceItem>, 'tax_rates'> & {
  tax_rates: string[] | null
  $: {
    price: string | null
    product: string | null
    subscription: string | null
    item: string | null
  }
}
export type InvoicePaymentRow = Wire<Stripe.InvoicePayment>
export type PaymentIntentRow = Wire<Stripe.PaymentIntent> & {
  $: {
    invoice: string | null
    /** A renewal is made without the customer too, but waits for them when the bank asks. */
    offSession: boolean | 'renewal'
    returnUrl: string | null
    /** The 3-D Secure challenge was passed for this attempt. */
    authenticated: boolean
    checkout: string | null
  }
}
export type ChargeRow = Omit<Wire<Stripe.Charge>, 'refunds'>
export type RefundRow = Wire<Stripe.Refund>
export type SetupIntentRow = Wire<Stripe.SetupIntent> & {
  $: {
    authenticated: boolean
    returnUrl: string | null
    subscription: string | null
    checkout: string | null
  }
}
export type BalanceTransactionRow = Wire<Stripe.CustomerBalanceTransaction>
export type ScheduleRow = Wire<Stripe.SubscriptionSchedule> & { $: { nextAt: number | null } }
export type TestClockRow = Wire<Stripe.TestHelpers.TestClock>
export type CheckoutSessionRow = Omit<Wire<Stripe.Checkout.Session>, 'line_items'> & {
  $: {
    items: Array<{ price: string; quantity: number }>
    params: string
    expiresNextAt: number | null
  }
}
export type PortalSessionRow = Wire<Stripe.BillingPortal.Session> & { $: { token: string } }
export type PortalConfigurationRow = Wire<Stripe.BillingPortal.Configuration>

/** Every kind of row by the `object` it is sent as. */
export interface Rows {
  'billing_portal.configuration': PortalConfigurationRow
  'billing_portal.session': PortalSessionRow
  charge: ChargeRow
  'checkout.session': CheckoutSessionRow
  coupon: CouponRow
  customer: CustomerRow
  customer_balance_transaction: BalanceTransactionRow
  discount: DiscountRow
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
  tax_rate: TaxRateRow
  'test_helpers.test_clock': TestClockRow
  webhook_endpoint: WebhookEndpointRow
}
export type Kind = keyof Rows
