import type Stripe from 'stripe'
import { createdIn, filterRows, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { settleBalance } from '../payments/balance-transactions.ts'
import { render } from '../state/render.ts'
import { noSuch } from '../wire/errors.ts'

/** Read only: payments and refunds make them. */
export const balanceTransactions: Operations = {
  'BalanceTransactions.retrieve': op((_params, call) => {
    settleBalance(call.work)
    const row = call.work.require('balance_transaction', idOf(call))
    return render('balance_transaction', row, call.work.tables)
  }),

  'BalanceTransactions.list': op<Stripe.BalanceTransactionListParams>((params, { work, path }) => {
    if (params.payout !== undefined) throw noSuch('payout', params.payout, 'payout')
    settleBalance(work)
    const rows = filterRows(
      createdIn(work.tables.balance_transaction.newestFirst(), params.created as Range | undefined),
      (row) =>
        (params.currency === undefined || row.currency === params.currency) &&
        (params.source === undefined || row.source === params.source) &&
        (params.type === undefined || row.type === params.type),
    )
    return listPage(rows, params, path, (row) => render('balance_transaction', row, work.tables))
  }),
}
