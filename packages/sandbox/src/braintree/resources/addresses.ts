import type { Call, OperationResponse, Operations } from '../api/operation.ts'
import { addressXml, readAddressParts } from '../state/addresses.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { AddressRow } from '../state/rows/vault.ts'
import { changeAddress, keepAddress, removeAddress } from '../vault/addresses.ts'
import { ErrorCollector, NotFound } from '../wire/errors.ts'
import { Fields } from '../wire/validation.ts'

const PATH = ['address']
const MOST_ADDRESSES = 50

function create({ context, body, params }: Call): OperationResponse {
  const customerId = params.customer ?? ''
  if (!context.tables.customers.has(customerId)) throw new NotFound('No such customer')
  const errors = new ErrorCollector()
  const parts = readAddressParts(new Fields(body).object('address'), PATH, errors)
  const isBlank = Object.values(parts).every((part) => part === null)
  if (isBlank && errors.isEmpty) errors.add(PATH, 'base', '81801')
  if (context.tables.addresses.findBy('customer', customerId).length >= MOST_ADDRESSES) {
    errors.add(PATH, 'base', '91818')
  }
  errors.throwIfAny()
  return respond(keepAddress(context, customerId, parts), 201)
}

function update({ context, body, params }: Call): OperationResponse {
  const row = requireAddress(context, params)
  const errors = new ErrorCollector()
  const parts = readAddressParts(new Fields(body).object('address'), PATH, errors)
  errors.throwIfAny()
  return respond(changeAddress(context, row, parts))
}

function find({ context, params }: Call): OperationResponse {
  return respond(requireAddress(context, params))
}

function remove({ context, params }: Call): OperationResponse {
  removeAddress(context, requireAddress(context, params))
  return null
}

function requireAddress(
  context: BraintreeContext,
  params: Readonly<Record<string, string>>,
): AddressRow {
  const row = context.tables.addresses.get(params.address ?? '')
  if (!row || row.customerId !== params.customer) throw new NotFound('No such address')
  return row
}

function respond(row: AddressRow, status: 200 | 201 = 200): OperationResponse {
  return { root: 'address', value: addressXml(row), status }
}

/** The addresses of a customer, below `/customers`. */
export const addresses: Operations = {
  'POST /:customer/addresses': create,
  'GET /:customer/addresses/:address': find,
  'PUT /:customer/addresses/:address': update,
  'DELETE /:customer/addresses/:address': remove,
}
