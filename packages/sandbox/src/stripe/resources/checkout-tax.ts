import { readAutomaticTaxParam } from '../invoices/automatic-tax.ts'
import { findTaxLocation } from '../payments/tax-location.ts'
import type { CheckoutSessionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import type { CheckoutMode, CheckoutParams } from './checkout-rules.ts'

/** Returns the field `automatic_tax` of a new checkout session. */

export function readAutomaticTax(params: CheckoutParams): CheckoutSessionRow['automatic_tax'] {
  return readAutomaticTaxParam(params)
    ? { enabled: true, liability: { type: 'self' }, provider: 'stripe', status: null }
    : { enabled: false, liability: null, provider: null, status: null }
}

/** Rejects a checkout session with automatic tax whose tax could never be calculated. */
export function checkCheckoutTax(
  work: UnitOfWork,
  params: CheckoutParams,
  mode: CheckoutMode,
): void {
  if (!readAutomaticTaxParam(params)) return
  if (mode === 'setup') {
    throw createInvalidRequestFault(
      'You can not pass `automatic_tax` in `setup` mode.',
      'automatic_tax',
    )
  }
  const byHand = params.line_items?.findIndex((item) => (item.tax_rates?.length ?? 0) > 0) ?? -1
  if (byHand >= 0 || params.subscription_data?.default_tax_rates) {
    throw createInvalidRequestFault(
      'You cannot set tax rates when `automatic_tax[enabled]=true`.',
      byHand >= 0 ? `line_items[${byHand}][tax_rates]` : 'subscription_data[default_tax_rates]',
    )
  }
  const customer = work.find('customer', params.customer ?? '')
  if (!customer || params.customer_update?.address === 'auto') return
  if (findTaxLocation(work, customer) !== null) return
  throw createInvalidRequestFault(
    "Automatic tax calculation in Checkout requires a valid address on the Customer. Add a valid address to the Customer or set either `customer_update[address]` to 'auto' or `customer_update[shipping]` to 'auto' to save the address entered in Checkout to the Customer.",
    undefined,
    'customer_tax_location_invalid',
  )
}

export function createAddressRequiredFault() {
  return createInvalidRequestFault(
    'Please say where you are: tax depends on it.',
    'address',
    'customer_tax_location_invalid',
  )
}
