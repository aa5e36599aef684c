import type { BraintreeApiCall, BraintreeOperations, OperationResponse } from '../api/operation.ts'
import { parseTransactionId, renderDisputeXml } from '../state/dispute-xml.ts'
import { NotFound } from '../wire/errors.ts'

function find({ context, params }: BraintreeApiCall): OperationResponse {
  const row = context.tables.transactions.get(parseTransactionId(params.id ?? '') ?? '')
  if (!row?.dispute) throw new NotFound('No such dispute')
  return { root: 'dispute', value: renderDisputeXml(row, row.dispute) }
}

/**
 * Operations that find disputes. A test opens and decides disputes with the handle's
 * `notify('dispute_…', transactionId)`.
 */
export const disputeOperations: BraintreeOperations = { 'GET /:id': find }
