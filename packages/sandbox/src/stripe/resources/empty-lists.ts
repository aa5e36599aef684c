import { listPage } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { requireCustomer } from '../payments/customer.ts'
import { noSuch } from '../wire/errors.ts'
import type { WireObject } from '../wire/wire-object.ts'

/**
 * What Stripe has and the sandbox cannot make, by how Stripe calls it in "No such …". Programs that
 * copy a whole account ask for these too, so a list is empty and one by its id is missing. Whoever
 * teaches the sandbox one of them takes out its line.
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

interface ListParams {
  readonly customer?: string
  readonly limit?: number
  readonly starting_after?: string
  readonly ending_before?: string
}

const listNothing = op<ListParams>((params, { work, path }) => {
  if (params.customer !== undefined) requireCustomer(work, params.customer, 'customer')
  return listPage<WireObject>([], params, path, (row) => row)
})

const byNoun: Operations = Object.fromEntries(
  Object.entries(NOUNS).flatMap(([resource, noun]) => [
    [`${resource}.list`, listNothing],
    [
      `${resource}.retrieve`,
      op((_params, call) => {
        throw noSuch(noun, idOf(call))
      }),
    ],
  ]),
)

export const emptyLists: Operations = {
  ...byNoun,
  /** What it entitles to; nothing here does. */
  'Products.listFeatures': op<ListParams>((params, call) => {
    call.work.require('product', idOf(call))
    return listPage<WireObject>([], params, call.path, (row) => row)
  }),
}
