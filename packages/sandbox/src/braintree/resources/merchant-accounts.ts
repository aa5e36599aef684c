import {
  type BraintreeApiCall,
  type BraintreeOperations,
  type OperationResponse,
  requireRow,
} from '../api/operation.ts'
import type { MerchantAccountRow } from '../state/rows/merchant.ts'
import { XmlCollection, XmlList, type XmlObject } from '../wire/xml.ts'

const PAGE_SIZE = 10

function find({ context, params }: BraintreeApiCall): OperationResponse {
  const row = requireRow(context.tables.merchantAccounts, params.id)
  return { root: 'merchant_account', value: accountXml(row) }
}

function page({ context, query }: BraintreeApiCall): OperationResponse {
  const rows = [...context.tables.merchantAccounts.values()]
  const number = Math.max(1, Number(query.get('page')) || 1)
  const shown = rows.slice((number - 1) * PAGE_SIZE, number * PAGE_SIZE)
  const paging = {
    current_page_number: number,
    page_size: PAGE_SIZE,
    total_items: rows.length,
  }
  const list = new XmlList('merchant_account', shown.map(accountXml))
  return { root: 'merchant_accounts', value: new XmlCollection(paging, list) }
}

function accountXml(row: MerchantAccountRow): XmlObject {
  return {
    id: row.id,
    status: 'active',
    currency_iso_code: row.currency,
    default: row.isDefault,
  }
}

/** Finds and lists merchant accounts. Each has one currency. */
export const merchantAccountOperations: BraintreeOperations = { 'GET /': page, 'GET /:id': find }
