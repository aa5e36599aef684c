import { createInvalidRequestFault, type StripeFault } from './errors.ts'
import { getOwnField } from './fields.ts'
import { splitWords } from './words.ts'

/**
 * Parameters that Stripe accepts and the sandbox does not support, by resource. They would change
 * the amount, the payer or the time of billing, so they are rejected instead of ignored. Remove an
 * entry when the sandbox starts to support it.
 */
export const UNSUPPORTED_PARAMS: Readonly<Record<string, readonly string[]>> = {
  'BillingPortal/Sessions': splitWords('after_expiration customer_account on_behalf_of'),
  Charges: splitWords('application_fee_amount on_behalf_of transfer_data'),
  'Checkout/Sessions': splitWords(`
    account_tax_ids after_expiration application_fee_amount application_fee_percent
    billing_cycle_anchor_config currency_options customer_account on_behalf_of optional_items
    payment_method_data pending_invoice_item_interval shipping_options transfer_data
  `),
  CreditNotes: splitWords('customer_account payment_record_refund shipping_cost tax_amounts'),
  Customers: splitWords('cash_balance'),
  Disputes: splitWords('appeal enhanced_evidence'),
  InvoiceItems: splitWords('customer_account quantity_decimal'),
  Invoices: splitWords(`
    account_tax_ids application_fee_amount application_fee_percent billing_schedules
    billing_thresholds currency_options current_trial customer_account default_source forgive
    from_invoice mandate on_behalf_of pause_schedules quantity_decimal shipping_cost
    transfer_data
  `),
  PaymentIntents: splitWords(`
    amount_to_confirm application_fee_amount confirmation_token customer_account hooks mandate
    mandate_data on_behalf_of transfer_data
  `),
  PaymentMethods: splitWords('customer_account'),
  Prices: splitWords('custom_unit_amount'),
  Products: splitWords('custom_unit_amount tiers'),
  PromotionCodes: splitWords('customer_account'),
  Quotes: splitWords('customer_account'),
  SetupIntents: splitWords('confirmation_token customer_account mandate_data on_behalf_of'),
  Sources: splitWords('mandate'),
  SubscriptionItems: splitWords('billing_thresholds current_trial'),
  SubscriptionSchedules: splitWords(`
    account_tax_ids application_fee_percent billing_thresholds customer_account on_behalf_of
    pause_schedules transfer_data
  `),
  Subscriptions: splitWords(`
    account_tax_ids application_fee_percent billing_schedules billing_thresholds current_trial
    customer_account default_source on_behalf_of pending_invoice_item_interval transfer_data
  `),
  TaxIds: splitWords('customer_account'),
}

/**
 * Unsupported parameters by path. For an entry `path=value`, only this value is rejected: as the
 * value of the parameter, as an entry of a list, or as the `type` of an object.
 */
const UNSUPPORTED_PATHS: Readonly<Record<string, readonly string[]>> = {
  'BillingPortal/Configurations': splitWords(`
    login_page[enabled]=true
    features[customer_update][allowed_updates]=shipping
    features[customer_update][allowed_updates]=tax_id
    features[payment_method_update][payment_method_configuration]
    features[subscription_cancel][cancellation_reason][feedback_options]
    features[subscription_pause]
    features[subscription_update][schedule_at_period_end][conditions]
  `),
  'Checkout/Sessions': splitWords(`
    adaptive_pricing[enabled]=true
    branding_settings
    consent_collection[payment_method_reuse_agreement]
    consent_collection[promotions]=auto
    custom_text[shipping_address]
    custom_text[terms_of_service_acceptance]
    customer_update[shipping]=auto
    excluded_payment_method_types=card
    invoice_creation[invoice_data][issuer]=account
    invoice_creation[invoice_data][rendering_options]
    managed_payments[enabled]=true
    name_collection
    payment_method_configuration
    payment_method_options
    saved_payment_method_options
    shipping_address_collection
    subscription_data[invoice_settings][custom_fields]
    subscription_data[invoice_settings][issuer]=account
    tax_id_collection[required]=if_supported
  `),
}

/**
 * Rejects a call that sends unsupported parameters. `operation` is a name such as `Prices.create`.
 * @throws {StripeFault} If a parameter is not supported.
 */
export function refuseUnsupported(
  operation: string,
  params: Readonly<Record<string, unknown>>,
): void {
  const [noun = ''] = operation.split('.')
  refuseNames(UNSUPPORTED_PARAMS[noun] ?? [], params, '')
  for (const entry of UNSUPPORTED_PATHS[noun] ?? []) {
    const [path = '', value] = entry.split('=')
    const given = path
      .split(/[[\]]+/)
      .reduce((at, name) => (name === '' ? at : getOwnField(at, name)), params as unknown)
    if (value === undefined ? requestsAnything(given) : hasRequestedValue(given, value))
      throw createUnsupportedParamFault(path)
  }
}

export function createUnsupportedParamFault(path: string): StripeFault {
  return createInvalidRequestFault(`The sandbox does not imitate \`${path}\`.`, path)
}

function hasRequestedValue(given: unknown, value: string): boolean {
  return (
    String(given) === value ||
    getOwnField(given, 'type') === value ||
    (Array.isArray(given) && given.includes(value))
  )
}

/** Rejects names at every depth, except in metadata, whose keys are arbitrary. */
function refuseNames(
  names: readonly string[],
  params: Readonly<Record<string, unknown>>,
  prefix: string,
): void {
  for (const [name, value] of Object.entries(params)) {
    const path = prefix === '' ? name : `${prefix}[${name}]`
    if (name === 'metadata') continue
    if (names.includes(name) && requestsAnything(value)) throw createUnsupportedParamFault(path)
    if (typeof value === 'object' && value !== null) {
      refuseNames(names, value as Record<string, unknown>, path)
    }
  }
}

/** Whether a parameter asks for anything. Empty values and `{ enabled: false }` do not. */
function requestsAnything(value: unknown): boolean {
  return value !== undefined && value !== '' && getOwnField(value, 'enabled') !== false
}
