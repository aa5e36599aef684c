import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import type { StripeOperation, StripeOperations } from '../api/operation.ts'
import { findCustomer } from '../payments/customer.ts'
import { createNoSuchObjectFault } from '../wire/errors.ts'
import type { WireObject } from '../wire/wire-object.ts'

/**
 * Objects that cannot be created in the sandbox, with the noun used in "No such …". Programs that
 * copy a whole account read these, too: their lists are empty, and retrieving one reports it
 * missing. Remove an entry when the sandbox starts to support it.
 */
const NOUNS: Readonly<Record<string, string>> = {
  ApplicationFees: 'application fee',
  'Billing/Alerts': 'billing alert',
  'Entitlements/ActiveEntitlements': 'active entitlement',
  'Entitlements/Features': 'feature',
  FileLinks: 'file link',
  Files: 'file upload',
  PaymentLinks: 'payment_link',
  PaymentMethodConfigurations: 'payment method configuration',
  PaymentMethodDomains: 'payment method domain',
  Payouts: 'payout',
  Quotes: 'quote',
  'Radar/EarlyFraudWarnings': 'issuer fraud record',
  Reviews: 'review',
  ShippingRates: 'shipping rate',
  Topups: 'topup',
  Transfers: 'transfer',
}

const listNothing: StripeOperation<Stripe.PaginationParams & { readonly customer?: string }> = (
  { customer, ...pages },
  { work, path },
) => {
  findCustomer(work, customer)
  return listPage<WireObject>([], pages, path, (row) => row)
}

export const emptyListOperations: StripeOperations = {
  ...Object.fromEntries(
    Object.entries(NOUNS).flatMap(
      ([resource, noun]): Array<[string, StripeOperation<object>]> => [
        [`${resource}.list`, listNothing],
        [
          `${resource}.retrieve`,
          (_params, { id }) => {
            throw createNoSuchObjectFault(noun, id)
          },
        ],
      ],
    ),
  ),
  /** Features are not supported, so products have none. */
  'Products.listFeatures'(params, { work, id, path }) {
    work.require('product', id)
    return listPage<WireObject>([], params, path, (row) => row)
  },
}
