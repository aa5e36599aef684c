import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import { customOperation, listRows, removeOperation, retrieveOperation } from '../api/resource.ts'
import { requireCustomer } from '../payments/customer.ts'
import { addTaxId, listCustomerTaxIds, removeTaxId, verifyTaxId } from '../payments/tax-ids.ts'
import { renderRow } from '../state/render.ts'
import type { CustomerRow, TaxIdRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createNoSuchObjectFault,
} from '../wire/errors.ts'
import type { WireObject } from '../wire/wire-object.ts'

/** Operations on tax ids of customers and of the account. */
export const taxIdOperations: StripeOperations = {
  'Customers.createTaxId': (params, { work, ids }) =>
    create(work, requireCustomer(work, ids[0] ?? ''), params),

  'Customers.retrieveTaxId': customOperation('tax_id', (_params, { work, ids }) =>
    requireOwn(work, ids),
  ),
  'Customers.listTaxIds': (params, { work, ids, path }) => {
    const rows = listCustomerTaxIds(work, requireCustomer(work, ids[0] ?? '')).reverse()
    return listPage(rows, params, path, (row) => renderRow('tax_id', row, work.tables))
  },

  'Customers.deleteTaxId': (_params, { work, ids, id }) => {
    removeTaxId(work, requireOwn(work, ids))
    return { id, object: 'tax_id', deleted: true }
  },
  'TaxIds.create': (params, { work }) => create(work, findTaxIdOwner(work, params.owner), params),
  'TaxIds.retrieve': retrieveOperation('tax_id'),

  'TaxIds.list': ({ owner, ...params }, call) => {
    const customer = findTaxIdOwner(call.work, owner)?.id ?? null
    return listRows('tax_id', { ...params, customer }, call)
  },
  'TaxIds.del': removeOperation('tax_id', (row, { work }) => removeTaxId(work, row)),
}

function create(
  work: UnitOfWork,
  owner: CustomerRow | null,
  params: Stripe.CustomerCreateTaxIdParams,
): WireObject {
  const row = addTaxId(work, owner, params)
  const shown = { ...renderRow('tax_id', row, work.tables) }
  verifyTaxId(work, row)
  return shown
}

function requireOwn(work: UnitOfWork, [customer = '', id = '']: readonly string[]): TaxIdRow {
  requireCustomer(work, customer)
  const row = work.require('tax_id', id)
  if (row.customer !== customer) throw createNoSuchObjectFault('tax_id', id)
  return row
}

/**
 * Returns the customer who owns the tax id. `null` if the account owns it, which is the default.
 */
function findTaxIdOwner(work: UnitOfWork, owner: Stripe.TaxIdCreateParams.Owner | undefined) {
  if (owner === undefined || owner.type === 'self') return null
  if (owner.type !== 'customer') {
    throw createInvalidRequestFault(
      'The sandbox has only one account, and no applications.',
      'owner[type]',
    )
  }
  if (owner.customer === undefined) throw createMissingParamFault('owner[customer]')
  return requireCustomer(work, owner.customer, 'owner[customer]')
}
