import { money, toDecimal } from '@tollgate/billing'
import { DISPUTE_STATUSES, type DisputeJson } from '../../admin/operations/disputes.ts'
import { type Commands, command } from '../command.ts'
import { withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { formatTable } from '../table.ts'

const PAGE = 100

/** Commands about disputes. */
export const disputeCommands: Commands = {
  'billing disputes': command({
    summary: 'list the disputes (chargebacks) of all people, newest first',
    options: {
      status: option.choice(DISPUTE_STATUSES, '<name>', `only: ${DISPUTE_STATUSES.join(', ')}`),
      user: option.text('<id>', 'only those of this user'),
      after: option.text('<cursor>', 'continue after the previous page'),
    },
    run: ({ options: { status, user, after } }, context) =>
      withOperations(context, { onlyReads: true }, async ({ perform }) => {
        const { data, next } = await perform<{
          data: readonly DisputeJson[]
          next: string | null
        }>('billing.listDisputes', {
          limit: PAGE,
          ...(status !== null && { status }),
          ...(user !== null && { user_id: user }),
          ...(after !== null && { after }),
        })
        if (next !== null) context.hint(`There are more disputes: add --after ${next}`)
        const rows = data.map((each) => [
          each.id,
          each.provider,
          each.user_id ?? '',
          each.invoice ?? each.charge,
          `${toDecimal(money(each.amount.amount, each.amount.currency))} ${each.amount.currency}`,
          each.status,
          each.reason ?? '',
          each.opened_at.slice(0, 10),
        ])
        const headers = [
          'ID',
          'PROVIDER',
          'USER',
          'INVOICE',
          'AMOUNT',
          'STATUS',
          'REASON',
          'OPENED',
        ]
        return { json: data, text: formatTable(headers, rows, 'There are no disputes') }
      }),
  }),
}
