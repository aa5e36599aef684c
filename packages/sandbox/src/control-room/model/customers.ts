import type { BraintreeContext } from '../../braintree/state/context.ts'
import type { CustomerRow } from '../../braintree/state/rows/vault.ts'
import { findSubscriptionDueAt } from '../../braintree/subscriptions/billing-cycle.ts'
import type { StripeContext } from '../../stripe/state/context.ts'
import type { SubscriptionRow } from '../../stripe/state/rows.ts'
import {
  findMerchant,
  formatProviderAndMerchant,
  listMerchants,
  type SandboxMerchant,
} from '../story/merchants.ts'
import type { CustomerRef, ObservedSandbox } from '../story/observed-sandbox.ts'
import { toStepAmount } from '../story/step.ts'

export interface SubscriptionSummary {
  readonly id: string
  readonly status: string
  /**
   * Quantity and product of the subscription, such as `2 × Gold`. If the product has no name, the
   * id of the price or plan.
   */
  readonly plan: string
  /** Amount and interval of the subscription, such as `$10.00 / month`. */
  readonly price: string
  /**
   * When the next scheduled step of the subscription is due, in ISO 8601 format. `null` if none is
   * scheduled.
   */
  readonly nextAt: string | null
  /** When the subscription ends, or ended, in ISO 8601 format. `null` if it renews. */
  readonly endsAt: string | null
}

export interface CustomerSummary extends CustomerRef {
  readonly name: string | null
  readonly email: string | null
  readonly created: string
  readonly subscriptions: readonly SubscriptionSummary[]
}

export interface CustomerFilter {
  /** Text to find in the customer's id, name or e-mail address. */
  readonly text?: string
  /**
   * Provider or Braintree merchant of the customer: `stripe`, `braintree` or `braintree.<merchant
   * id>`.
   */
  readonly place?: string
  readonly most: number
}

/** Returns the customers that match the filter, for each provider newest first. */
export function findCustomers(sandbox: ObservedSandbox, filter: CustomerFilter): CustomerSummary[] {
  const wanted = filter.text?.trim().toLowerCase() ?? ''
  const found: CustomerSummary[] = []
  for (const customerRef of allCustomers(sandbox)) {
    if (found.length >= filter.most) break
    if (filter.place && formatProviderAndMerchant(customerRef) !== filter.place) continue
    const values = [customerRef.id, customerRef.name, customerRef.email]
    if (wanted && !values.some((value) => value?.toLowerCase().includes(wanted))) continue
    found.push(summarize(sandbox, customerRef))
  }
  return found
}

export function findCustomer(
  sandbox: ObservedSandbox,
  customerRef: CustomerRef,
): CustomerSummary | null {
  const { provider, merchant, id } = customerRef
  if (provider === 'stripe') {
    const row = sandbox.stripe?.context.tables.customer.get(id)
    return row && !row.$.deleted ? summarize(sandbox, fromStripe(row)) : null
  }
  const found = findMerchant(sandbox, merchant)
  const row = found?.context.tables.customers.get(id)
  return found && row ? summarize(sandbox, fromBraintree(row, found)) : null
}

/**
 * Yields the customers of both providers. Stripe's come first, because sorting all by date would
 * mean reading all of them.
 */
function* allCustomers(sandbox: ObservedSandbox): Generator<CustomerWithoutSubscriptions> {
  for (const row of sandbox.stripe?.context.tables.customer.newestFirst() ?? []) {
    if (!row.$.deleted) yield fromStripe(row)
  }
  for (const merchant of listMerchants(sandbox)) {
    for (const row of merchant.context.tables.customers.newestFirst()) {
      yield fromBraintree(row, merchant)
    }
  }
}

type CustomerWithoutSubscriptions = Omit<CustomerSummary, 'subscriptions'>

function fromStripe(row: {
  id: string
  name?: string | null
  email: string | null
  created: number
}): CustomerWithoutSubscriptions {
  const { id, name, email, created } = row
  const at = new Date(created * 1000).toISOString()
  return { provider: 'stripe', merchant: null, id, name: name ?? null, email, created: at }
}

function fromBraintree(
  row: CustomerRow,
  { name: merchant }: SandboxMerchant,
): CustomerWithoutSubscriptions {
  const name = [row.firstName, row.lastName].filter(Boolean).join(' ') || row.company
  const created = new Date(row.createdAt).toISOString()
  return { provider: 'braintree', merchant, id: row.id, name, email: row.email, created }
}

function summarize(sandbox: ObservedSandbox, base: CustomerWithoutSubscriptions): CustomerSummary {
  const { stripe } = sandbox
  const merchant = findMerchant(sandbox, base.merchant)
  const subscriptions =
    base.provider === 'stripe'
      ? stripe && stripeSubscriptions(stripe.context, base.id)
      : merchant && braintreeSubscriptions(merchant.context, base.id)
  return { ...base, subscriptions: subscriptions ?? [] }
}

function stripeSubscriptions({ tables }: StripeContext, customer: string): SubscriptionSummary[] {
  const rows = tables.subscription.findBy('customer', customer)
  return rows.reverse().map((row) => ({
    id: row.id,
    status: row.status,
    ...describeItems({ tables }, row),
    nextAt: fromSeconds(findNextDueTime({ tables }, row)),
    endsAt: fromSeconds(row.cancel_at ?? row.ended_at),
  }))
}

/** Returns the next due time of the subscription or of its unpaid invoices. */
function findNextDueTime(
  { tables }: Pick<StripeContext, 'tables'>,
  row: SubscriptionRow,
): number | null {
  const invoices = tables.invoice.findBy('subscription', row.id)
  const times = [row, ...invoices].flatMap(({ $ }) => $.nextAt ?? [])
  return times.length > 0 ? Math.min(...times) : null
}

function describeItems(
  { tables }: Pick<StripeContext, 'tables'>,
  row: SubscriptionRow,
): { plan: string; price: string } {
  const items = tables.subscription_item.findBy('subscription', row.id)
  const plans: string[] = []
  const prices: string[] = []
  for (const item of items) {
    const price = tables.price.get(item.price)
    const product = price && tables.product.get(String(price.product))
    const name = product?.name ?? price?.nickname ?? item.price
    const quantity = item.quantity ?? 1
    plans.push(quantity === 1 ? name : `${quantity} × ${name}`)
    const amount = toStepAmount(price?.unit_amount, price?.currency)
    const every = price?.recurring
    if (!amount || !every) continue
    const count = every.interval_count === 1 ? '' : `${every.interval_count} `
    prices.push(`${amount.text} / ${count}${every.interval}${count ? 's' : ''}`)
  }
  return { plan: plans.join(', '), price: prices.join(' + ') }
}

function braintreeSubscriptions(
  { tables }: BraintreeContext,
  customer: string,
): SubscriptionSummary[] {
  const rows = tables.subscriptions.findBy('customer', customer)
  return rows.reverse().map((row) => {
    const due = findSubscriptionDueAt(row)
    const months = row.billingFrequency === 1 ? 'month' : `${row.billingFrequency} months`
    return {
      id: row.id,
      status: row.status,
      plan: tables.plans.get(row.planId)?.name ?? row.planId,
      price: `${toStepAmount(row.price, row.currency)?.text ?? ''} / ${months}`,
      nextAt: due === null ? null : new Date(due).toISOString(),
      endsAt: null,
    }
  })
}

function fromSeconds(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1000).toISOString()
}
