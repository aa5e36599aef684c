import type { Call, OperationResponse, Operations } from '../api/operation.ts'
import { type Searchable, searchIds, searchPage } from '../api/search.ts'
import type { BraintreeContext } from '../state/context.ts'
import { customerXml, type ShownAssociations } from '../state/customer-xml.ts'
import type { CardDetails, CustomerRow, PaymentMethodRow } from '../state/rows/vault.ts'
import {
  BLANK,
  checkId,
  freshCustomerId,
  readCardPart,
  readDefaultMethod,
  readDetails,
} from '../vault/customer-params.ts'
import { makeDefault, removePaymentMethod } from '../vault/vault.ts'
import { ErrorCollector, NotFound } from '../wire/errors.ts'
import { Fields } from '../wire/validation.ts'
import { addressFields } from './address-search.ts'
import { addresses } from './addresses.ts'

function create({ context, body }: Call): OperationResponse {
  const fields = new Fields(body).object('customer')
  const errors = new ErrorCollector()
  const id = checkId(context, fields, null, errors)
  const details = readDetails(context, fields, errors)
  const keepCard = readCardPart(context, fields, null, errors)
  readDefaultMethod(context, fields, null, errors)
  errors.throwIfAny()
  const now = context.clock.nowMs()
  const { customers } = context.tables
  const row: CustomerRow = {
    ...BLANK,
    customFields: {},
    ...details,
    id: id ?? freshCustomerId(context),
    createdAt: now,
    updatedAt: now,
  }
  keepCard?.(row.id)
  customers.set(row.id, row)
  return { root: 'customer', value: customerXml(context, row), status: 201 }
}

function update({ context, body, params }: Call): OperationResponse {
  const row = requireCustomer(context, params.id)
  const fields = new Fields(body).object('customer')
  const errors = new ErrorCollector()
  const id = checkId(context, fields, row.id, errors)
  const details = readDetails(context, fields, errors)
  const changeCard = readCardPart(context, fields, row, errors)
  const preferred = readDefaultMethod(context, fields, row, errors)
  errors.throwIfAny()
  changeCard?.(row.id)
  Object.assign(row, details)
  row.updatedAt = context.clock.nowMs()
  if (id !== null && id !== row.id) rename(context, row, id)
  context.tables.customers.set(row.id, row)
  if (preferred) makeDefault(context, preferred)
  return { root: 'customer', value: customerXml(context, row) }
}

function find({ context, params, query }: Call): OperationResponse {
  const row = requireCustomer(context, params.id)
  const filter = query.get('association_filter_id')
  return { root: 'customer', value: customerXml(context, row, shownBy(filter)) }
}

/** The filters that Braintree has defined for whoever needs less of a customer. */
function shownBy(filter: string | null): ShownAssociations {
  if (filter === 'customernoassociations') return 'none'
  return filter === 'customertoplevelassociations' ? 'top-level' : 'all'
}

function remove({ context, params }: Call): OperationResponse {
  const row = requireCustomer(context, params.id)
  const { addresses: kept, paymentMethods } = context.tables
  for (const method of paymentMethods.findBy('customer', row.id)) {
    removePaymentMethod(context, method)
  }
  for (const { id } of kept.findBy('customer', row.id)) kept.delete(id)
  context.tables.customers.delete(row.id)
  return null
}

function rename(context: BraintreeContext, row: CustomerRow, id: string): void {
  const { addresses: kept, customers, paymentMethods, subscriptions } = context.tables
  for (const address of kept.findBy('customer', row.id)) {
    address.customerId = id
    kept.set(address.id, address)
  }
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

function cardsOf<Part>(
  row: CustomerRow,
  context: BraintreeContext,
  read: (card: CardDetails) => Part,
): Part[] {
  return methodsOf(row, context).flatMap(({ instrument }) =>
    instrument.kind === 'credit_card' ? [read(instrument.card)] : [],
  )
}

/** The tokens of every card with the same number. */
function tokensOfEqual(context: BraintreeContext, card: CardDetails): string[] {
  return [...context.tables.paymentMethods.values()].flatMap(({ token, instrument }) =>
    instrument.kind === 'credit_card' &&
    instrument.card.uniqueNumberIdentifier === card.uniqueNumberIdentifier
      ? [token]
      : [],
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
      anyText: (row, context) => cardsOf(row, context, (card) => card.cardholderName ?? ''),
    },
    payment_method_token_with_duplicates: {
      anyText: (row, context) =>
        cardsOf(row, context, (card) => card).flatMap((card) => tokensOfEqual(context, card)),
    },
    credit_card_number: { cards: (row, context) => cardsOf(row, context, (card) => card) },
    credit_card_expiration_date: {
      anyText: (row, context) =>
        cardsOf(row, context, (card) => `${card.expirationMonth}/${card.expirationYear}`),
    },
    ...addressFields('address_', (row, context) =>
      context.tables.addresses.findBy('customer', row.id),
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
  ...addresses,
  'POST /advanced_search_ids': (call) => searchIds(call, SEARCH),
  'POST /advanced_search': (call) => searchPage(call, SEARCH),
}
