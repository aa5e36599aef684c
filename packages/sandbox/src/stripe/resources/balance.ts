import { type Operations, op } from '../api/operation.ts'
import type { BalanceTransactionRow } from '../state/rows.ts'

/** The account's own money: what payments brought, less fees and refunds. Nothing is paid out. */
export const balance: Operations = {
  'Balance.retrieve': op((_params, { work }) => {
    const pending = new Map<string, number>([['usd', 0]])
    const available = new Map<string, number>([['usd', 0]])
    for (const row of work.tables.balance_transaction.values()) {
      const isPending = row.available_on > work.sandboxNow
      add(isPending ? pending : available, row)
      // A currency is listed on both sides.
      add(isPending ? available : pending, { ...row, net: 0 })
    }
    return {
      object: 'balance',
      available: toFunds(available),
      livemode: false,
      pending: toFunds(pending),
      refund_and_dispute_prefunding: { available: [], pending: [] },
    }
  }),
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
