import type Stripe from 'stripe'
import type { StripeApiCall, StripeOperations } from '../api/operation.ts'
import {
  changeOperation,
  customOperation,
  listRows,
  removeOperation,
  searchOperation,
} from '../api/resource.ts'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { adjustBalance } from '../invoices/customer-balance.ts'
import { collectInvoice } from '../invoices/invoice-payment.ts'
import {
  addCard,
  isCardPaymentMethod,
  removeCard,
  replaceDefaultCard,
  requireCard,
} from '../payments/cards.ts'
import { requireCustomer, requireOwnPaymentMethod } from '../payments/customer.ts'
import { resolvePaymentMethod } from '../payments/new-payment-method.ts'
import {
  attachPaymentMethod,
  createEmptyAddress,
  detachPaymentMethod,
} from '../payments/payment-methods.ts'
import { addTaxId, listCustomerTaxIds, removeTaxId, verifyTaxId } from '../payments/tax-ids.ts'
import { findTaxLocation, requireTaxLocation } from '../payments/tax-location.ts'
import { createBlankRow } from '../state/blank.ts'
import { requireClockForNewCustomer } from '../state/clock-limits.ts'
import { endDiscount } from '../state/discounts.ts'
import { renderRow } from '../state/render.ts'
import type { CustomerRow, DiscountRow } from '../state/rows.ts'
import { cancelSchedule, cancelSubscription } from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createFaultWithStatus, createInvalidRequestFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'

export const customerOperations: StripeOperations = {
  'Customers.create': customOperation('customer', (params, { work, removedParams }) => {
    const customer = createCustomer(work, params)
    applyCustomerDiscount(work, customer, removedParams)
    return customer
  }),
  /** Returns deleted customers, too, with `deleted: true`. */
  'Customers.retrieve': customOperation('customer', (_params, { work, id }) =>
    work.require('customer', id),
  ),
  'Customers.update': changeOperation('customer', (customer, params, { work, removedParams }) => {
    const located = findTaxLocation(work, customer) !== null
    applyDetails(customer, params)
    const { validate_location: when = 'auto' } = params.tax ?? {}
    checkTaxLocation(work, customer, when, located)
    if (params.default_source !== undefined) {
      const card = requireCard(work, customer, params.default_source, 'default_source')
      customer.default_source = card.id
    }
    if (params.source !== undefined) {
      replaceDefaultCard(work, customer, params.source)
      retryPastDue(work, customer)
    }
    applyCustomerDiscount(work, customer, removedParams)
    applyInvoiceSettings(work, customer, params.invoice_settings)
    Object.assign(customer, pickSentFields(params, 'invoice_prefix', 'next_invoice_sequence'))
    if (params.balance !== undefined && params.balance !== customer.balance) {
      adjustBalance(work, customer, params.balance - customer.balance, { type: 'adjustment' })
    }
  }),
  'Customers.del': removeOperation('customer', (customer, { work }) =>
    deleteCustomer(work, customer),
  ),
  /** Lists customers on a test clock only if the call names that clock. */
  'Customers.list': (params, call) => listRows('customer', { test_clock: null, ...params }, call),
  'Customers.search': searchOperation('customer'),

  'Customers.deleteDiscount': (_params, { work, id }) => {
    const customer = requireCustomer(work, id)
    const discount = removeCustomerDiscount(work, customer)
    if (!discount) {
      const message = `No active discount for customer: ${customer.id}`
      throw createFaultWithStatus(404, message, 'resource_missing')
    }
    const { end: _end, ...shown } = renderRow('discount', discount, work.tables)
    return { ...shown, deleted: true }
  },
}

/**
 * Deletes a customer with all subscriptions and payment methods. Past invoices and payments remain.
 */
export function deleteCustomer(work: UnitOfWork, customer: CustomerRow): void {
  for (const subscription of work.findBy('subscription', 'customer', customer.id)) {
    if (!subscription.ended_at) cancelSubscription(work, subscription, 'cancellation_requested')
  }
  for (const schedule of work.findBy('subscription_schedule', 'customer', customer.id)) {
    if (schedule.status === 'not_started') cancelSchedule(work, schedule)
  }
  for (const method of work.findBy('payment_method', 'customer', customer.id)) {
    if (isCardPaymentMethod(method)) removeCard(work, method)
    else detachPaymentMethod(work, method)
  }
  for (const taxId of listCustomerTaxIds(work, customer)) removeTaxId(work, taxId)
  work.emit('customer.deleted', 'customer', customer)
  work.edit('customer', customer).$.deleted = true
}

export function createCustomer(work: UnitOfWork, params: Stripe.CustomerCreateParams): CustomerRow {
  const id = work.newId('cus_', 14)
  const customer: CustomerRow = {
    ...createBlankRow('customer'),
    id,
    address: null,
    balance: 0,
    created: work.now,
    currency: null,
    delinquent: false,
    invoice_prefix: params.invoice_prefix ?? work.context.store.randomText(8, 'ABCDEF0123456789'),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    metadata: {},
    name: null,
    next_invoice_sequence: params.next_invoice_sequence ?? 1,
    phone: null,
    preferred_locales: [],
    tax_exempt: 'none',
    test_clock: params.test_clock ? requireClockForNewCustomer(work, params.test_clock).id : null,
    $: { discount: null, deleted: false },
  }
  work.insert('customer', customer)
  applyDetails(customer, params)
  const settings = { ...params.invoice_settings }
  if (params.payment_method !== undefined) {
    const method = resolvePaymentMethod(work, params.payment_method, 'payment_method')
    attachPaymentMethod(work, method, customer)
    // A test value such as pm_card_visa refers to the payment method created above.
    if (settings.default_payment_method === params.payment_method) {
      settings.default_payment_method = method.id
    }
  }
  if (params.source !== undefined) addCard(work, customer, { source: params.source })
  applyInvoiceSettings(work, customer, settings)
  checkTaxLocation(work, customer, params.tax?.validate_location ?? 'deferred', false)
  if (params.balance) adjustBalance(work, customer, params.balance, { type: 'initial' })
  work.emit('customer.created', 'customer', customer)
  params.tax_id_data?.forEach((taxId, at) => {
    verifyTaxId(work, addTaxId(work, customer, taxId, `tax_id_data[${at}][value]`))
  })
  return customer
}

type Details = Stripe.CustomerCreateParams & Stripe.CustomerUpdateParams

function applyDetails(customer: CustomerRow, params: Details): void {
  const { address, email, shipping } = params
  if (email !== undefined) customer.email = checkEmail(email)
  Object.assign(
    customer,
    pickSentFields(params, 'name', 'phone', 'description', 'preferred_locales'),
  )
  if (address === '' || address === null) customer.address = null
  else if (address) customer.address = { ...createEmptyAddress(), ...address }
  if (shipping === '' || shipping === null) customer.shipping = null
  else if (shipping) {
    customer.shipping = {
      address: { ...createEmptyAddress(), ...shipping.address },
      name: shipping.name,
      phone: shipping.phone || null,
    }
  }
  if (params.tax_exempt !== undefined) customer.tax_exempt = params.tax_exempt || 'none'
  if (params.tax?.ip_address) customer.$.taxIp = params.tax.ip_address
  if (params.business_name) customer.business_name = params.business_name
  if (params.individual_name) customer.individual_name = params.individual_name
  customer.metadata = mergeMetadata(customer.metadata, params.metadata)
}

function applyInvoiceSettings(
  work: UnitOfWork,
  customer: CustomerRow,
  settings: Details['invoice_settings'],
): void {
  if (!settings) return
  const { default_payment_method: method } = settings
  const applied = {
    ...customer.invoice_settings,
    ...pickSentFields(settings, 'footer', 'custom_fields'),
  }
  if (method === '' || method === null) applied.default_payment_method = null
  else if (method !== undefined) {
    applied.default_payment_method = requireOwnPaymentMethod(
      work,
      customer,
      method,
      'invoice_settings[default_payment_method]',
    )
  }
  customer.invoice_settings = applied
}

/**
 * Validates the customer's tax location. With `auto`, rejects a change that makes a known location
 * unknown while a subscription with automatic tax depends on it.
 */
function checkTaxLocation(
  work: UnitOfWork,
  customer: CustomerRow,
  when: string,
  located: boolean,
): void {
  const relied =
    located &&
    when === 'auto' &&
    work
      .findBy('subscription', 'customer', customer.id)
      .some((each) => each.automatic_tax.enabled && !each.ended_at)
  if (when === 'immediately' || relied) requireTaxLocation(work, customer)
}

function checkEmail(email: string): string {
  if (/^[^\s@]+@[^\s@]+$/.test(email) && email.length <= 512) return email
  throw createInvalidRequestFault(`Invalid email address: ${email}`, 'email', 'email_invalid')
}

/**
 * Applies `coupon` and `promotion_code`, which only older API versions accept. In these versions,
 * an empty value removes the customer's discount; newer versions have no parameter for this.
 */
function applyCustomerDiscount(
  work: UnitOfWork,
  customer: CustomerRow,
  removedParams: StripeApiCall['removedParams'],
): void {
  const { coupon, promotion_code } = removedParams
  const wanted = coupon === undefined ? promotion_code : coupon
  if (wanted === undefined) return
  removeCustomerDiscount(work, customer)
  if (wanted === '') return
  const currency = customer.currency ?? work.find('coupon', wanted)?.currency ?? 'usd'
  const asked = [pickSentFields(removedParams, 'coupon', 'promotion_code')]
  const [id] = redeemDiscounts(work, asked, { customer, currency, belongsToCustomer: true })
  work.edit('customer', customer).$.discount = id ?? null
}

/** Ends the customer's discount and returns it. */
function removeCustomerDiscount(work: UnitOfWork, customer: CustomerRow): DiscountRow | undefined {
  const discount = work.find('discount', customer.$.discount ?? '')
  if (!discount) return undefined
  work.edit('customer', customer).$.discount = null
  endDiscount(work, discount.id)
  return discount
}

/**
 * Retries the latest invoice of past-due subscriptions, because the customer provided a new card.
 */
function retryPastDue(work: UnitOfWork, customer: CustomerRow): void {
  for (const subscription of work.findBy('subscription', 'customer', customer.id)) {
    if (subscription.status !== 'past_due') continue
    const invoice = work.find('invoice', subscription.latest_invoice ?? '')
    if (invoice?.status !== 'open' || invoice.auto_advance !== true) continue
    if (invoice.collection_method !== 'charge_automatically') continue
    collectInvoice(work, invoice, { offSession: true })
  }
}
