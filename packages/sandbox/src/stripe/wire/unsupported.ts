import { invalidRequest } from './errors.ts'

/**
 * Parameters Stripe takes and the sandbox does not imitate. They change what is billed, to whom or
 * when, so they are refused by name instead of being ignored.
 */
export const UNSUPPORTED: ReadonlySet<string> = new Set([
  'account_tax_ids',
  'after_expiration',
  'amount_to_confirm',
  'application_fee_amount',
  'application_fee_percent',
  'backdate_start_date',
  'billing_cycle_anchor_config',
  'billing_schedules',
  'billing_thresholds',
  'cash_balance',
  'confirmation_token',
  'currency_options',
  'current_trial',
  'custom_unit_amount',
  'customer_account',
  'default_source',
  'flow_data',
  'forgive',
  'from_invoice',
  'hooks',
  'invoice_creation',
  'mandate',
  'mandate_data',
  'on_behalf_of',
  'optional_items',
  'pause_schedules',
  'payment_method_data',
  'pending_invoice_item_interval',
  'quantity_decimal',
  'shipping_cost',
  'shipping_options',
  'tax_id_data',
  'tiers',
  'tiers_mode',
  'transfer_data',
  'transform_quantity',
])

/** Looks at names at every depth; metadata may use any name. */
export function refuseUnsupported(params: Readonly<Record<string, unknown>>, prefix = ''): void {
  for (const [name, value] of Object.entries(params)) {
    const path = prefix === '' ? name : `${prefix}[${name}]`
    if (name === 'metadata') continue
    if (UNSUPPORTED.has(name) && value !== '') {
      throw invalidRequest(`The sandbox does not imitate \`${path}\`.`, path)
    }
    if (name === 'automatic_tax' && (value as { enabled?: boolean }).enabled) {
      throw invalidRequest('The sandbox computes no tax by itself; use tax rates.', path)
    }
    if (typeof value === 'object' && value !== null) {
      refuseUnsupported(value as Record<string, unknown>, path)
    }
  }
}
