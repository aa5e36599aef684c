import type Stripe from 'stripe'
import { filterRows, listPage } from '../api/lists.ts'
import { type Call, idOf, type Operations, op } from '../api/operation.ts'
import { requireCustomer } from '../payments/customer.ts'
import { addTaxId, removeTaxId, taxIdsOf, verifyTaxId } from '../payments/tax-ids.ts'
import { render } from '../state/render.ts'
import type { CustomerRow, TaxIdRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam, noSuch } from '../wire/errors.ts'
import type { WireObject } from '../wire/wire-object.ts'

/** Tax ids of customers, and those of the account itself. */
export const taxIds: Operations = {
  'Customers.createTaxId': op<Stripe.CustomerCreateTaxIdParams>((params, { work, ids }) =>
    create(work, requireCustomer(work, ids[0] ?? ''), params),
  ),

  'Customers.retrieveTaxId': op((_params, { work, ids }) =>
    render('tax_id', requireOwn(work, ids), work.tables),
  ),

  'Customers.listTaxIds': op<Stripe.CustomerListTaxIdsParams>((params, { work, ids, path }) => {
    const rows = taxIdsOf(work, requireCustomer(work, ids[0] ?? '')).reverse()
    return listPage(rows, params, path, (row) => render('tax_id', row, work.tables))
  }),

  'Customers.deleteTaxId': op((_params, { work, ids }) => remove(work, requireOwn(work, ids))),

  'TaxIds.create': op<Stripe.TaxIdCreateParams>((params, { work }) =>
    create(work, ownerOf(work, params.owner), params),
  ),

  'TaxIds.retrieve': op((_params, call) =>
    render('tax_id', call.work.require('tax_id', idOf(call)), call.work.tables),
  ),

  'TaxIds.list': op<Stripe.TaxIdListParams>((params, { work, path }) => {
    const customer = ownerOf(work, params.owner)?.id ?? null
    const rows = filterRows(work.tables.tax_id.newestFirst(), (row) => row.customer === customer)
    return listPage(rows, params, path, (row) => render('tax_id', row, work.tables))
  }),

  'TaxIds.del': op((_params, call: Call) =>
    remove(call.work, call.work.require('tax_id', idOf(call))),
  ),
}

function create(
  work: UnitOfWork,
  owner: CustomerRow | null,
  params: Stripe.CustomerCreateTaxIdParams,
): WireObject {
  const row = addTaxId(work, owner, params)
  const shown = { ...render('tax_id', row, work.tables) }
  verifyTaxId(work, row)
  return shown
}

function remove(work: UnitOfWork, row: TaxIdRow): WireObject {
  removeTaxId(work, row)
  return { id: row.id, object: 'tax_id', deleted: true }
}

function requireOwn(work: UnitOfWork, [customer = '', id = '']: readonly string[]): TaxIdRow {
  requireCustomer(work, customer)
  const row = work.require('tax_id', id)
  if (row.customer !== customer) throw noSuch('tax_id', id)
  return row
}

/** Null is the account itself, which is also meant when nobody is named. */
function ownerOf(work: UnitOfWork, owner: Stripe.TaxIdCreateParams.Owner | undefined) {
  if (owner === undefined || owner.type === 'self') return null
  if (owner.type !== 'customer') {
    throw invalidRequest('The sandbox is one account, without applications.', 'owner[type]')
  }
  if (owner.customer === undefined) throw missingParam('owner[customer]')
  return requireCustomer(work, owner.customer, 'owner[customer]')
}
