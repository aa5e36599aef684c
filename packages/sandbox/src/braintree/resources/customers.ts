import {
  type BraintreeApiCall,
  type BraintreeOperations,
  type OperationResponse,
  requireRow,
} from '../api/operation.ts'
import { type SearchFields, searchOperations } from '../api/search.ts'
import { renderAddressXml } from '../state/addresses.ts'
import { NO_CONTACT, renderContactXml } from '../state/contact.ts'
import type { BraintreeContext } from '../state/context.ts'
import { renderPaymentMethodsXml } from '../state/payment-method-xml.ts'
import type { CardDetails, CustomerRow, PaymentMethodRow } from '../state/rows/vault.ts'
import {
  createUnusedCustomerId,
  parseCustomerDetails,
  readCustomerId,
  readCustomerPaymentMethod,
  readDefaultMethod,
} from '../vault/customer-params.ts'
import { makeDefault, removePaymentMethod } from '../vault/vault.ts'
import { RequestFields } from '../wire/validation.ts'
import { XmlList, type XmlObject } from '../wire/xml.ts'
import { addressOperations } from './addresses.ts'
import { createAddressSearchFields, createContactSearchFields } from './contact-search.ts'

function create({ context, body }: BraintreeApiCall): OperationResponse {
  const fields = new RequestFields(body).object('customer')
  const id = readCustomerId(context, fields, null)
  const details = parseCustomerDetails(context, fields)
  const keepCard = readCustomerPaymentMethod(context, fields, null)
  readDefaultMethod(context, fields, null)
  fields.throwIfAny()
  const now = context.clock.nowMs()
  const { customers } = context.tables
  const row: CustomerRow = {
    ...NO_CONTACT,
    customFields: {},
    ...details,
    id: id ?? createUnusedCustomerId(context),
    createdAt: now,
    updatedAt: now,
  }
  keepCard?.(row.id)
  customers.set(row.id, row)
  return { root: 'customer', value: customerXml(context, row), status: 201 }
}

function update({ context, body, params }: BraintreeApiCall): OperationResponse {
  const row = requireRow(context.tables.customers, params.id)
  const fields = new RequestFields(body).object('customer')
  const id = readCustomerId(context, fields, row.id)
  const details = parseCustomerDetails(context, fields)
  const changeCard = readCustomerPaymentMethod(context, fields, row)
  const preferred = readDefaultMethod(context, fields, row)
  fields.throwIfAny()
  changeCard?.(row.id)
  Object.assign(row, details)
  row.updatedAt = context.clock.nowMs()
  if (id !== null && id !== row.id) rename(context, row, id)
  context.tables.customers.set(row.id, row)
  if (preferred) makeDefault(context, preferred)
  return { root: 'customer', value: customerXml(context, row) }
}

function find({ context, params, query }: BraintreeApiCall): OperationResponse {
  const row = requireRow(context.tables.customers, params.id)
  const filter = query.get('association_filter_id')
  return { root: 'customer', value: customerXml(context, row, parseAssociationFilter(filter)) }
}

/** Returns which objects a Braintree filter includes with a customer. */
function parseAssociationFilter(filter: string | null): ShownAssociations {
  if (filter === 'customernoassociations') return 'none'
  return filter === 'customertoplevelassociations' ? 'top-level' : 'all'
}

function remove({ context, params }: BraintreeApiCall): OperationResponse {
  const row = requireRow(context.tables.customers, params.id)
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

/** Which of a customer's associated objects a response includes. */
type ShownAssociations = 'all' | 'top-level' | 'none'

function customerXml(
  context: BraintreeContext,
  row: CustomerRow,
  shown: ShownAssociations = 'all',
): XmlObject {
  const addresses = shown === 'none' ? [] : context.tables.addresses.findBy('customer', row.id)
  return {
    id: row.id,
    global_id: Buffer.from(`customer_${row.id}`).toString('base64'),
    ...renderContactXml(row),
    custom_fields: shown === 'none' ? {} : row.customFields,
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.updatedAt),
    addresses: new XmlList('address', addresses.map(renderAddressXml)),
    credit_cards: renderPaymentMethodsXml(context, row.id, { kind: 'credit_card', shown }),
    paypal_accounts: renderPaymentMethodsXml(context, row.id, { kind: 'paypal_account', shown }),
  }
}

function listCustomerPaymentMethods(
  row: CustomerRow,
  context: BraintreeContext,
): PaymentMethodRow[] {
  return context.tables.paymentMethods.findBy('customer', row.id)
}

function renderCustomerCards<Part>(
  row: CustomerRow,
  context: BraintreeContext,
  read: (card: CardDetails) => Part,
): Part[] {
  return listCustomerPaymentMethods(row, context).flatMap(({ instrument }) =>
    instrument.kind === 'credit_card' ? [read(instrument.card)] : [],
  )
}

/** Returns the tokens of all cards with the same number. */
function findDuplicateTokens(context: BraintreeContext, card: CardDetails): string[] {
  return [...context.tables.paymentMethods.values()].flatMap(({ token, instrument }) =>
    instrument.kind === 'credit_card' &&
    instrument.card.uniqueNumberIdentifier === card.uniqueNumberIdentifier
      ? [token]
      : [],
  )
}

const SEARCH: SearchFields<CustomerRow> = {
  root: 'customers',
  itemName: 'customer',
  table: (context) => context.tables.customers,
  xml: customerXml,
  fields: {
    id: { text: (row) => row.id },
    ...createContactSearchFields('', (row) => row),
    payment_method_token: {
      anyText: (row, context) => listCustomerPaymentMethods(row, context).map(({ token }) => token),
    },
    paypal_account_email: {
      anyText: (row, context) =>
        listCustomerPaymentMethods(row, context).flatMap(({ instrument }) =>
          instrument.kind === 'paypal_account' ? [instrument.paypal.email] : [],
        ),
    },
    cardholder_name: {
      anyText: (row, context) =>
        renderCustomerCards(row, context, (card) => card.cardholderName ?? ''),
    },
    payment_method_token_with_duplicates: {
      anyText: (row, context) =>
        renderCustomerCards(row, context, (card) => card).flatMap((card) =>
          findDuplicateTokens(context, card),
        ),
    },
    credit_card_number: {
      cards: (row, context) => renderCustomerCards(row, context, (card) => card),
    },
    credit_card_expiration_date: {
      anyText: (row, context) =>
        renderCustomerCards(
          row,
          context,
          (card) => `${card.expirationMonth}/${card.expirationYear}`,
        ),
    },
    ...createAddressSearchFields('address_', (row, context) =>
      context.tables.addresses.findBy('customer', row.id),
    ),
    created_at: { instant: (row) => row.createdAt },
  },
}

/** Operations on customers. A customer can be created together with a payment method. */
export const customerOperations: BraintreeOperations = {
  'POST /': create,
  'GET /:id': find,
  'PUT /:id': update,
  'DELETE /:id': remove,
  ...addressOperations,
  ...searchOperations(SEARCH),
}
