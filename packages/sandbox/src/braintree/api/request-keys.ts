import type { BraintreeContext } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import type { RequestFields } from '../wire/validation.ts'

const LIFETIME = 30 * 24 * 3_600_000

/**
 * Runs a call at most once for its `api_request_key`. For 30 days, a repeated request with the same
 * key returns the transaction of the first one. A different request with the same key is rejected.
 */
export function runOncePerRequestKey(
  context: BraintreeContext,
  fields: RequestFields,
  operation: string,
  run: () => TransactionRow,
): TransactionRow {
  const key = fields.text('api_request_key')
  if (key === null) return run()
  if (key.length > 255) fields.refuse('api_request_key', '915230')
  const { requestKeys, transactions } = context.tables
  const request = `${operation} ${canonical(fields.values)}`
  const first = requestKeys.get(key)
  const now = context.clock.nowMs()
  if (first && now - first.usedAt < LIFETIME) {
    if (first.request !== request) fields.refuse('api_request_key', '915232')
    const transaction = transactions.get(first.transactionId)
    if (transaction) return transaction
  }
  const transaction = run()
  requestKeys.set(key, { request, transactionId: transaction.id, usedAt: now })
  return transaction
}

/** Serializes JSON with sorted keys, so that equal requests give equal texts. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
