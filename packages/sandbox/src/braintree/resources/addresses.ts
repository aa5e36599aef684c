import {
  type BraintreeApiCall,
  type BraintreeOperations,
  type OperationResponse,
  requireRow,
} from '../api/operation.ts'
import { readAddressParts, renderAddressXml } from '../state/addresses.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { AddressRow } from '../state/rows/vault.ts'
import { changeAddress, removeAddress, storeAddress } from '../vault/addresses.ts'
import { NotFound } from '../wire/errors.ts'
import { RequestFields } from '../wire/validation.ts'

const MAX_ADDRESSES = 50

function create({ context, body, params }: BraintreeApiCall): OperationResponse {
  const customerId = params.customer ?? ''
  requireRow(context.tables.customers, customerId)
  const fields = new RequestFields(body).object('address')
  const parts = readAddressParts(fields)
  const isBlank = Object.values(parts).every((part) => part === null)
  if (isBlank && fields.errors.isEmpty) fields.addError('base', '81801')
  if (context.tables.addresses.findBy('customer', customerId).length >= MAX_ADDRESSES) {
    fields.addError('base', '91818')
  }
  fields.throwIfAny()
  return respond(storeAddress(context, customerId, parts), 201)
}

function update({ context, body, params }: BraintreeApiCall): OperationResponse {
  const row = requireAddress(context, params)
  const fields = new RequestFields(body).object('address')
  const parts = readAddressParts(fields)
  fields.throwIfAny()
  return respond(changeAddress(context, row, parts))
}

function find({ context, params }: BraintreeApiCall): OperationResponse {
  return respond(requireAddress(context, params))
}

function remove({ context, params }: BraintreeApiCall): OperationResponse {
  removeAddress(context, requireAddress(context, params))
  return null
}

function requireAddress(
  context: BraintreeContext,
  params: Readonly<Record<string, string>>,
): AddressRow {
  const row = requireRow(context.tables.addresses, params.address)
  if (row.customerId !== params.customer) throw new NotFound('No such address')
  return row
}

function respond(row: AddressRow, status: 200 | 201 = 200): OperationResponse {
  return { root: 'address', value: renderAddressXml(row), status }
}

/** Operations on a customer's addresses, below the path `/customers`. */
export const addressOperations: BraintreeOperations = {
  'POST /:customer/addresses': create,
  'GET /:customer/addresses/:address': find,
  'PUT /:customer/addresses/:address': update,
  'DELETE /:customer/addresses/:address': remove,
}
