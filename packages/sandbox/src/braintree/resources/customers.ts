import type { Call, OperationResponse, Operations } from '../api/operation.ts'
import { type Searchable, searchIds, searchPage } from '../api/search.ts'
import type { BraintreeContext } from '../state/context.ts'
import { customerXml } from '../state/customer-xml.ts'
import type { CardDetails, CustomerRow, PaymentMethodRow } from '../state/rows/vault.ts'
import {
  BLANK,
  checkId,
  readCardPart,
  readDefaultMethod,
  readDetails,
} from '../vault/customer-params.ts'
import {
  makeDefault,
  removePaymentMethod,
  replaceInstrument,
  store,
  verifyCard,
} from '../vault/vault.ts'
import { ErrorCollector, NotFound } from '../wire/errors.ts'
import { Fields } from '../wire/validation.ts'
import { addressFields } from './address-search.ts'

function create({ context, body }: Call): OperationResponse {
  const fields = new Fields(body).object('customer')
  const errors = new ErrorCollector()
  const id = checkId(context, fields, null, errors)
  const details = readDetails(context, fields, errors)
  const card = readCardPart(context, fields, null, errors)
  readDefaultMethod(context, fields, null, errors)
  errors.throwIfAny()
  const verifications = card ? verifyCard(context, card.offered, card.options) : []
  const now = context.clock.nowMs()
  const { customers } = context.tables
  const row: CustomerRow = {
    ...BLANK,
    customFields: {},
    ...details,
    id: id ?? freshNumericId(context),
    createdAt: now,
    updatedAt: now,
  }
  customers.set(row.id, row)
  if (card) {
    const { offered, token, billingAddress } = card
    const customerId = row.id
    const kept = { customerId, token, makeDefault: true, verifications, billingAddress }
    store(context, offered, kept)
  }
  return { root: 'customer', value: customerXml(context, row), status: 201 }
}

function update({ context, body, params }: Call): OperationResponse {
  const row = requireCustomer(context, params.id)
  const fields = new Fields(body).object('customer')
  const errors = new ErrorCollector()
  const id = checkId(context, fields, row.id, errors)
  const details = readDetails(context, fields, errors)
  const card = readCardPart(context, fields, row, errors)
  const preferred = readDefaultMethod(context, fields, row, errors)
  errors.throwIfAny()
  const verifications = card ? verifyCard(context, card.offered, card.options) : []
  Object.assign(row, details)
  row.updatedAt = context.clock.nowMs()
  if (id !== null && id !== row.id) rename(context, row, id)
  context.tables.customers.set(row.id, row)
  if (card?.replaces) {
    if (card.billingAddress) card.replaces.billingAddress = card.billingAddress
    replaceInstrument(context, card.replaces, card.offered, verifications)
  } else if (card) {
    const { offered, token, options, billingAddress } = card
    const wantsDefault = options.flag('make_default') ?? false
    const customerId = row.id
    const kept = { customerId, token, makeDefault: wantsDefault, verifications, billingAddress }
    store(context, offered, kept)
  }
  if (preferred) makeDefault(context, preferred)
  return { root: 'customer', value: customerXml(context, row) }
}

function find({ context, params }: Call): OperationResponse {
  return { root: 'customer', value: customerXml(context, requireCustomer(context, params.id)) }
}

function remove({ context, params }: Call): OperationResponse {
  const row = requireCustomer(context, params.id)
  for (const method of context.tables.paymentMethods.findBy('customer', row.id)) {
    removePaymentMethod(context, method)
  }
  context.tables.customers.delete(row.id)
  return null
}

function freshNumericId(context: BraintreeContext): string {
  for (;;) {
    const id = `1${context.store.randomText(9, '0123456789')}`
    if (!context.tables.customers.has(id)) return id
  }
}

function rename(context: BraintreeContext, row: CustomerRow, id: string): void {
  const { customers, paymentMethods, subscriptions } = context.tables
  const methods = paymentMethods.findBy('customer', row.id)
  const subscribed = subscriptions.findBy('customer', row.id)
  customers.delete(row.id)
  row.id = id
  for (const method of methods) {
    method.customerId = id
    paymentMethods.set(method.token, method)
  }
  for (const subscription of subscribed) {
    subscription.customerId = id
    subscriptions.set(subscription.id, subscription)
  }
}

export function requireCustomer(context: BraintreeContext, id: string | undefined): CustomerRow {
  const row = context.tables.customers.get(id ?? '')
  if (!row) throw new NotFound('No such customer')
  return row
}

function methodsOf(row: CustomerRow, context: BraintreeContext): PaymentMethodRow[] {
  return context.tables.paymentMethods.findBy('customer', row.id)
}

function cardsOf(
  row: CustomerRow,
  context: BraintreeContext,
  read: (card: CardDetails) => string | null,
): string[] {
  return methodsOf(row, context).flatMap(({ instrument }) =>
    instrument.kind === 'credit_card' ? [read(instrument.card) ?? ''] : [],
  )
}

const SEARCH: Searchable<CustomerRow> = {
  root: 'customers',
  itemName: 'customer',
  table: (context) => context.tables.customers,
  xml: customerXml,
  fields: {
    id: { text: (row) => row.id },
    email: { text: (row) => row.email },
    first_name: { text: (row) => row.firstName },
    last_name: { text: (row) => row.lastName },
    company: { text: (row) => row.company },
    phone: { text: (row) => row.phone },
    fax: { text: (row) => row.fax },
    website: { text: (row) => row.website },
    payment_method_token: {
      anyText: (row, context) => methodsOf(row, context).map(({ token }) => token),
    },
    paypal_account_email: {
      anyText: (row, context) =>
        methodsOf(row, context).flatMap(({ instrument }) =>
          instrument.kind === 'paypal_account' ? [instrument.paypal.email] : [],
        ),
    },
    cardholder_name: {
      anyText: (row, context) => cardsOf(row, context, (card) => card.cardholderName),
    },
    credit_card_number: {
      anyText: (row, context) => cardsOf(row, context, (card) => `${card.bin}******${card.last4}`),
    },
    credit_card_expiration_date: {
      anyText: (row, context) =>
        cardsOf(row, context, (card) => `${card.expirationMonth}/${card.expirationYear}`),
    },
    ...addressFields('address_', (row, context) =>
      methodsOf(row, context).map(({ billingAddress }) => billingAddress),
    ),
    created_at: { instant: (row) => Math.floor(row.createdAt / 1000) * 1000 },
  },
}

/** Customers and, with them, their first payment method. */
export const customers: Operations = {
  'POST /': create,
  'GET /:id': find,
  'PUT /:id': update,
  'DELETE /:id': remove,
  'POST /advanced_search_ids': (call) => searchIds(call, SEARCH),
  'POST /advanced_search': (call) => searchPage(call, SEARCH),
}
