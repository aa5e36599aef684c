import { invalidRequest } from './errors.ts'

/**
 * Parameters Stripe takes and the sandbox does not imitate, by the noun they are sent to. They change
 * what is billed, to whom or when, so they are refused by name instead of being ignored. Whoever
 * teaches a noun one of them takes out that line.
 */
export const UNSUPPORTED: Readonly<Record<string, readonly string[]>> = {
  'BillingPortal/Sessions': ['after_expiration', 'customer_account', 'on_behalf_of'],
  Charges: ['application_fee_amount', 'on_behalf_of', 'transfer_data'],
  'Checkout/Sessions': [
    'account_tax_ids',
    'after_expiration',
    'application_fee_amount',
    'application_fee_percent',
    'billing_cycle_anchor_config',
    'currency_options',
    'customer_account',
    'on_behalf_of',
    'optional_items',
    'payment_method_data',
    'pending_invoice_item_interval',
    'shipping_options',
    'transfer_data',
  ],
  CreditNotes: ['customer_account', 'payment_record_refund', 'shipping_cost', 'tax_amounts'],
  Customers: ['cash_balance'],
  Disputes: ['appeal', 'enhanced_evidence'],
  InvoiceItems: ['customer_account', 'quantity_decimal'],
  Invoices: [
    'account_tax_ids',
    'application_fee_amount',
    'application_fee_percent',
    'billing_schedules',
    'billing_thresholds',
    'currency_options',
    'current_trial',
    'customer_account',
    'default_source',
    'forgive',
    'from_invoice',
    'mandate',
    'on_behalf_of',
    'pause_schedules',
    'quantity_decimal',
    'shipping_cost',
    'transfer_data',
  ],
  PaymentIntents: [
    'amount_to_confirm',
    'application_fee_amount',
    'confirmation_token',
    'customer_account',
    'hooks',
    'mandate',
    'mandate_data',
    'on_behalf_of',
    'transfer_data',
  ],
  PaymentMethods: ['customer_account'],
  Prices: ['custom_unit_amount'],
  Products: ['custom_unit_amount', 'tiers'],
  PromotionCodes: ['customer_account'],
  Quotes: ['customer_account'],
  SetupIntents: ['confirmation_token', 'customer_account', 'mandate_data', 'on_behalf_of'],
  Sources: ['mandate'],
  SubscriptionItems: ['billing_thresholds', 'current_trial'],
  SubscriptionSchedules: [
    'account_tax_ids',
    'application_fee_percent',
    'billing_thresholds',
    'customer_account',
    'on_behalf_of',
    'pause_schedules',
    'transfer_data',
  ],
  Subscriptions: [
    'account_tax_ids',
    'application_fee_percent',
    'billing_schedules',
    'billing_thresholds',
    'current_trial',
    'customer_account',
    'default_source',
    'on_behalf_of',
    'pending_invoice_item_interval',
    'transfer_data',
  ],
  TaxIds: ['customer_account'],
}

/** `operation` is such as `Prices.create`. */
export function refuseUnsupported(
  operation: string,
  params: Readonly<Record<string, unknown>>,
): void {
  refuseNames(UNSUPPORTED[operation.split('.')[0] ?? ''] ?? [], params, '')
}

/** Looks at names at every depth; metadata may use any name. */
function refuseNames(
  names: readonly string[],
  params: Readonly<Record<string, unknown>>,
  prefix: string,
): void {
  for (const [name, value] of Object.entries(params)) {
    const path = prefix === '' ? name : `${prefix}[${name}]`
    if (name === 'metadata') continue
    if (names.includes(name) && value !== '' && !isOff(value)) {
      throw invalidRequest(`The sandbox does not imitate \`${path}\`.`, path)
    }
    if (typeof value === 'object' && value !== null) {
      refuseNames(names, value as Record<string, unknown>, path)
    }
  }
}

/** `{ enabled: false }` asks for nothing. */
function isOff(value: unknown): boolean {
  return typeof value === 'object' && (value as { enabled?: boolean } | null)?.enabled === false
}
