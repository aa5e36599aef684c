import type { StripeOperations } from '../api/operation.ts'
import { customOperation, listRows } from '../api/resource.ts'
import { markAvailableFunds } from '../payments/balance-transactions.ts'
import type { BalanceTransactionRow } from '../state/rows.ts'
import { createNoSuchObjectFault } from '../wire/errors.ts'

/**
 * Operations on the account's balance, which consists of payments less fees and refunds. There are
 * no payouts.
 */
export const balanceOperations: StripeOperations = {
  'Balance.retrieve': (_params, { work }) => {
    const pending = new Map<string, number>([['usd', 0]])
    const available = new Map<string, number>([['usd', 0]])
    for (const row of work.tables.balance_transaction.values()) {
      const isPending = row.available_on > work.sandboxNow
      add(isPending ? pending : available, row)
      // Currencies appear in both lists, with zero if necessary.
      add(isPending ? available : pending, { ...row, net: 0 })
    }
    return {
      object: 'balance',
      available: toFunds(available),
      livemode: false,
      pending: toFunds(pending),
      refund_and_dispute_prefunding: { available: [], pending: [] },
    }
  },
}

function add(sums: Map<string, number>, { currency, net }: BalanceTransactionRow): void {
  sums.set(currency, (sums.get(currency) ?? 0) + net)
}

function toFunds(sums: ReadonlyMap<string, number>) {
  return [...sums].map(([currency, amount]) => ({
    amount,
    currency,
    source_types: { card: amount },
  }))
}

/** Operations that read balance transactions. Payments, refunds and disputes create them. */
export const balanceTransactionOperations: StripeOperations = {
  'BalanceTransactions.retrieve': customOperation(
    'balance_transaction',
    (_params, { work, id }) => {
      markAvailableFunds(work)
      return work.require('balance_transaction', id)
    },
  ),
  'BalanceTransactions.list': ({ payout, ...params }, call) => {
    if (payout !== undefined) throw createNoSuchObjectFault('payout', payout, 'payout')
    markAvailableFunds(call.work)
    return listRows('balance_transaction', params, call)
  },
}
