import { createBlankRow } from '../state/blank.ts'
import type { CustomerRow, PaymentMethodRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, StripeFault, withErrorDocsUrl } from '../wire/errors.ts'
import { setDefaultMethod } from './customer.ts'
import { createCardFault } from './payment-attempt.ts'
import { createCardDecline, getCardBehavior, type TestCard } from './test-cards.ts'

export function detachPaymentMethod(work: UnitOfWork, row: PaymentMethodRow): void {
  const { customer } = row
  work.edit('payment_method', row)
  detachFromCustomer(work, row)
  // The detached payment method no longer names its customer; the event's `previous_attributes` do.
  work.emit('payment_method.detached', 'payment_method', row, customer ? { customer } : null)
}

/**
 * Detaches a payment method from its customer, and removes it as a default of the customer and of
 * subscriptions.
 */
export function detachFromCustomer(work: UnitOfWork, row: PaymentMethodRow): void {
  const customer = work.find('customer', row.customer ?? '')
  row.customer = null
  row.$.detached = true
  if (customer && customer.invoice_settings.default_payment_method === row.id) {
    setDefaultMethod(work, customer, null)
  }
  if (customer && customer.default_source === row.id) {
    // Indexes are updated at the end of the step, so the rows themselves must be checked.
    const left = work
      .findBy('payment_method', 'customer', customer.id)
      .filter((each) => each.customer === customer.id)
    const next = left.filter(({ id }) => id.startsWith('card_')).at(-1)
    work.edit('customer', customer).default_source = next?.id ?? null
  }
  for (const subscription of customer ? work.findBy('subscription', 'customer', customer.id) : []) {
    if (subscription.default_payment_method !== row.id) continue
    work.edit('subscription', subscription).default_payment_method = null
  }
}

export function requirePaymentMethod(
  work: UnitOfWork,
  id: string,
  param: string,
): PaymentMethodRow {
  const row = work.find('payment_method', id)
  if (row) return row
  throw new StripeFault(param === 'id' ? 404 : 400, {
    type: 'invalid_request_error',
    ...withErrorDocsUrl('resource_missing'),
    message: `No such PaymentMethod: '${id}'`,
    param: param === 'id' ? 'payment_method' : param,
  })
}

/**
 * Attaches a payment method to a customer.
 * @throws {StripeFault} If the payment method belongs to another customer, was detached before, or
 * is a test card that always declines.
 */
export function attachPaymentMethod(
  work: UnitOfWork,
  row: PaymentMethodRow,
  customer: CustomerRow,
): void {
  if (row.customer === customer.id) return
  if (row.customer !== null) {
    throw createInvalidRequestFault(
      'The payment method you provided has already been attached to a customer.',
      'payment_method',
    )
  }
  if (row.$.detached) {
    throw createInvalidRequestFault(
      'This PaymentMethod was previously used without being attached to a Customer or was detached from a Customer, and may not be used again.',
      'payment_method',
    )
  }
  checkAttachable(row)
  work.edit('payment_method', row).customer = customer.id
  work.emit('payment_method.attached', 'payment_method', row)
}

/**
 * Rejects a payment method that is attached to a customer other than the intent's. A payment method
 * without a customer is allowed.
 */
export function checkPaymentMethodOwner(
  { id, customer: owner }: PaymentMethodRow,
  customer: string | null,
  kind: 'PaymentIntent' | 'SetupIntent',
): void {
  if (owner === null || owner === customer) return
  throw createInvalidRequestFault(
    customer === null
      ? `The payment method supplied (${id}) belongs to the Customer ${owner}. Please include the Customer in the \`customer\` parameter on the ${kind}.`
      : `The PaymentMethod ${id} does not belong to the Customer you supplied ${customer}. Please use this PaymentMethod with the Customer that it belongs to instead.`,
    'payment_method',
  )
}

export function checkAttachable(row: PaymentMethodRow): void {
  const behavior = getCardBehavior(row)
  if (typeof behavior === 'object' && 'declines' in behavior) {
    throw createCardFault(createCardDecline(behavior.declines), {})
  }
}

export function createCardMethod(
  work: UnitOfWork,
  test: { name: string; card: TestCard },
): PaymentMethodRow {
  const { card, name } = test
  return {
    ...createBlankPaymentMethod(work),
    card: {
      brand: card.brand,
      checks: {
        address_line1_check: null,
        address_postal_code_check: null,
        cvc_check: card.checks?.cvc ?? 'pass',
      },
      country: card.country,
      display_brand: card.brand === 'amex' ? 'american_express' : card.brand,
      exp_month: work.context.clock.now().getUTCMonth() + 1,
      exp_year: work.context.clock.now().getUTCFullYear() + 4,
      fingerprint: `fp_${card.brand}_${card.last4}`,
      funding: card.funding,
      generated_from: null,
      last4: card.last4,
      networks: { available: [card.brand], preferred: null },
      regulated_status: 'unregulated',
      three_d_secure_usage: { supported: true },
      wallet: null,
    },
    type: 'card',
    $: { behavior: name, detached: false, authenticated: false },
  }
}

/** Returns the fields that all new payment methods have in common. */
export function createBlankPaymentMethod(work: UnitOfWork) {
  return {
    ...createBlankRow('payment_method'),
    id: work.newId('pm_1'),
    allow_redisplay: 'unspecified' as const,
    billing_details: {
      address: createEmptyAddress(),
      email: null,
      name: null,
      phone: null,
      tax_id: null,
    },
    created: work.sandboxNow,
    metadata: {},
  }
}

export function createEmptyAddress() {
  return { city: null, country: null, line1: null, line2: null, postal_code: null, state: null }
}
