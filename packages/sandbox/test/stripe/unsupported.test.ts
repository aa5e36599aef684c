import { expect, it } from 'vitest'
import { STRIPE_OPERATIONS } from '../../src/stripe/resources/registry.ts'
import { NODES, ROUTES } from '../../src/stripe/wire/contract.generated.ts'
import { UNSUPPORTED_PARAMS } from '../../src/stripe/wire/unsupported.ts'

/** Names that every call once rejected. Calls that accept one now are listed below. */
const ONCE_REFUSED = [
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
]

/** Parameters that the sandbox supports since then, as `Noun.parameter`. Each has its own tests. */
const LEARNED = [
  'BillingPortal/Sessions.flow_data',
  'Checkout/Sessions.invoice_creation',
  'Coupons.currency_options',
  'Customers.default_source',
  'Customers.tax_id_data',
  'PaymentIntents.payment_method_data',
  'Plans.tiers',
  'Plans.tiers_mode',
  'Prices.currency_options',
  'Prices.tiers',
  'Prices.tiers_mode',
  'Prices.transform_quantity',
  'Products.currency_options',
  'PromotionCodes.currency_options',
  'SetupIntents.payment_method_data',
  'Subscriptions.backdate_start_date',
  'Subscriptions.billing_cycle_anchor_config',
]

it('the Stripe sandbox rejects every parameter that it once did not support, except those in the list of newly supported parameters', () => {
  const taken: string[] = []
  for (const [, , operation, params] of ROUTES) {
    if (!(operation in STRIPE_OPERATIONS)) continue
    const noun = operation.split('.')[0] ?? ''
    for (const name of namesIn(params)) {
      if (!ONCE_REFUSED.includes(name) || UNSUPPORTED_PARAMS[noun]?.includes(name)) continue
      taken.push(`${noun}.${name}`)
    }
  }
  expect([...new Set(taken)].sort()).toEqual(LEARNED)
})

it('the Stripe sandbox lists as unsupported only parameters that the resource has', () => {
  const nouns = new Map<string, Set<string>>()
  for (const [, , operation, params] of ROUTES) {
    const noun = operation.split('.')[0] ?? ''
    const names = nouns.get(noun) ?? new Set()
    for (const name of namesIn(params)) names.add(name)
    nouns.set(noun, names)
  }
  for (const [noun, names] of Object.entries(UNSUPPORTED_PARAMS)) {
    expect([noun, names.filter((name) => !nouns.get(noun)?.has(name))]).toEqual([noun, []])
  }
})

/** Returns the names of all parameters in a type, except metadata. */
function namesIn(ref: unknown, seen = new Set<unknown>()): string[] {
  const node = (typeof ref === 'number' ? NODES[ref] : ref) as Record<string, unknown> | string
  if (typeof node === 'string' || seen.has(node)) return []
  seen.add(node)
  if (node.o) {
    return Object.entries(node.o)
      .filter(([name]) => name !== 'metadata')
      .flatMap(([name, child]) => [name, ...namesIn(child, seen)])
  }
  if (Array.isArray(node.u)) return node.u.flatMap((child) => namesIn(child, seen))
  return namesIn(node.a ?? node.m ?? node.z ?? 's', seen)
}
