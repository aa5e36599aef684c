import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { searchPage } from '../api/search.ts'
import { discountCustomer, removeCustomerDiscount } from '../catalog/customer-discount.ts'
import { adjustBalance } from '../invoices/customer-balance.ts'
import { retryPastDue } from '../invoices/past-due.ts'
import { addCard, isCard, removeCard, replaceDefaultCard } from '../payments/cards.ts'
import { requireCustomer, requireOwnMethod } from '../payments/customer.ts'
import { usePaymentMethod } from '../payments/new-payment-method.ts'
import {
  attachPaymentMethod,
  detachPaymentMethod,
  emptyAddress,
} from '../payments/payment-methods.ts'
import { addTaxId, removeTaxId, taxIdsOf, verifyTaxId } from '../payments/tax-ids.ts'
import { requireTaxLocation, taxLocationOf } from '../payments/tax-location.ts'
import { requireClockWithRoom } from '../state/clock-limits.ts'
import { render } from '../state/render.ts'
import type { CustomerRow, PaymentMethodRow } from '../state/rows.ts'
import { cancelSchedule, cancelSubscription } from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, noSuch, StripeFault, withDocs } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { nulls } from '../wire/wire.ts'

export const customers: Operations = {
  'Customers.create': op<Stripe.CustomerCreateParams>((params, { work, gone }) => {
    const customer = createCustomer(work, params)
    discountCustomer(work, customer, gone)
    return render('customer', customer, work.tables)
  }),

  'Customers.retrieve': op((_params, call) =>
    render('customer', call.work.require('customer', idOf(call)), call.work.tables),
  ),

  'Customers.update': op<Stripe.CustomerUpdateParams>((params, call) => {
    const { work } = call
    const customer = work.edit('customer', requireCustomer(work, idOf(call)))
    const located = taxLocationOf(work, customer) !== null
    applyDetails(customer, params)
    const { validate_location: when = 'auto' } = params.tax ?? {}
    checkTaxLocation(work, customer, when, located)
    if (params.default_source !== undefined) {
      customer.default_source = requireCard(work, customer, params.default_source).id
    }
    if (params.source !== undefined) {
      replaceDefaultCard(work, customer, params.source)
      retryPastDue(work, customer)
    }
    discountCustomer(work, customer, call.gone)
    applyInvoiceSettings(work, customer, params.invoice_settings)
    if (params.invoice_prefix !== undefined) customer.invoice_prefix = params.invoice_prefix
    if (params.next_invoice_sequence !== undefined) {
      customer.next_invoice_sequence = params.next_invoice_sequence
    }
    if (params.balance !== undefined && params.balance !== customer.balance) {
      adjustBalance(work, customer, params.balance - customer.balance, { type: 'adjustment' })
    }
    return render('customer', customer, work.tables)
  }),

  'Customers.del': op((_params, call) => {
    const { work } = call
    const customer = requireCustomer(work, idOf(call))
    deleteCustomer(work, customer)
    return { id: customer.id, object: 'customer', deleted: true }
  }),

  'Customers.list': op<Stripe.CustomerListParams>((params, { work, path }) => {
    const rows = filterRows(
      work.tables.customer.newestFirst(),
      (row) =>
        !row.$.deleted &&
        (params.email === undefined || row.email === params.email) &&
        (row.test_clock ?? null) === (params.test_clock ?? null) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, (row) => render('customer', row, work.tables))
  }),

  'Customers.search': op<Stripe.CustomerSearchParams>((params, { work, path }) =>
    searchPage(work.tables.customer, params, path, {
      keep: (row) => !row.$.deleted,
      toWire: (row) => render('customer', row, work.tables),
    }),
  ),

  'Customers.deleteDiscount': op((_params, call) => {
    const { work } = call
    const customer = requireCustomer(work, idOf(call))
    const discount = removeCustomerDiscount(work, customer)
    if (!discount) {
      throw new StripeFault(404, {
        type: 'invalid_request_error',
        ...withDocs('resource_missing'),
        message: `No active discount for customer: ${customer.id}`,
      })
    }
    const { end: _end, ...shown } = render('discount', discount, work.tables)
    return { ...shown, deleted: true }
  }),
}

/** With everything it pays for; what it paid stays. */
export function deleteCustomer(work: UnitOfWork, customer: CustomerRow): void {
  for (const subscription of work.findBy('subscription', 'customer', customer.id)) {
    if (!subscription.ended_at) cancelSubscription(work, subscription, 'cancellation_requested')
  }
  for (const schedule of work.findBy('subscription_schedule', 'customer', customer.id)) {
    if (schedule.status === 'not_started') cancelSchedule(work, schedule)
  }
  for (const method of work.findBy('payment_method', 'customer', customer.id)) {
    if (isCard(method)) removeCard(work, method)
    else detachPaymentMethod(work, method)
  }
  for (const taxId of taxIdsOf(work, customer)) removeTaxId(work, taxId)
  work.emit('customer.deleted', 'customer', customer)
  work.edit('customer', customer).$.deleted = true
}

export function createCustomer(work: UnitOfWork, params: Stripe.CustomerCreateParams): CustomerRow {
  const id = work.newId('cus_', 14)
  const customer: CustomerRow = {
    ...nulls<Stripe.Customer>('customer'),
    id,
    object: 'customer',
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
    livemode: false,
    metadata: {},
    name: null,
    next_invoice_sequence: params.next_invoice_sequence ?? 1,
    phone: null,
    preferred_locales: [],
    tax_exempt: 'none',
    test_clock: params.test_clock ? requireClockWithRoom(work, params.test_clock).id : null,
    $: { discount: null, deleted: false },
  }
  work.insert('customer', customer)
  applyDetails(customer, params)
  const settings = { ...params.invoice_settings }
  if (params.payment_method !== undefined) {
    const method = usePaymentMethod(work, params.payment_method, 'payment_method')
    attachPaymentMethod(work, method, customer)
    // A test value such as pm_card_visa stands for the method just made.
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
  const { address, email, name, phone, description, shipping } = params
  if (email !== undefined) customer.email = checkEmail(email)
  if (name !== undefined) customer.name = name || null
  if (phone !== undefined) customer.phone = phone || null
  if (description !== undefined) customer.description = description || null
  if (address === '' || address === null) customer.address = null
  else if (address) customer.address = { ...emptyAddress(), ...address }
  if (shipping === '' || shipping === null) customer.shipping = null
  else if (shipping) {
    customer.shipping = {
      address: { ...emptyAddress(), ...shipping.address },
      name: shipping.name,
      phone: shipping.phone || null,
    }
  }
  if (params.preferred_locales) customer.preferred_locales = params.preferred_locales
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
  const { default_payment_method: method, footer, custom_fields } = settings
  const applied = { ...customer.invoice_settings }
  if (method === '' || method === null) applied.default_payment_method = null
  else if (method !== undefined) {
    applied.default_payment_method = requireOwnMethod(
      work,
      customer,
      method,
      'invoice_settings[default_payment_method]',
    )
  }
  if (footer !== undefined) applied.footer = footer || null
  if (custom_fields !== undefined) applied.custom_fields = custom_fields || null
  customer.invoice_settings = applied
}

/** `auto` guards what subscriptions with automatic tax rely on; a place that was known stays known. */
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
  throw invalidRequest(`Invalid email address: ${email}`, 'email', 'email_invalid')
}

function requireCard(work: UnitOfWork, customer: CustomerRow, id: string): PaymentMethodRow {
  const row = work.find('payment_method', id)
  if (!row || row.customer !== customer.id || !isCard(row))
    throw noSuch('source', id, 'default_source')
  return row
}
