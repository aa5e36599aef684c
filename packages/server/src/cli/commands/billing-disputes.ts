import { money, toDecimal } from '@tollgate/billing'
import { DISPUTE_STATUSES, type DisputeJson } from '../../admin/operations/disputes.ts'
import { type Commands, command } from '../command.ts'
import { type OpenOperations, withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { requireOwner } from '../owner.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'

const PAGE = 100

/** Commands about disputes. */
export const disputeCommands: Commands = {
  'billing disputes': command({
    summary: 'list the disputes (chargebacks) of everybody, or of one owner, newest first',
    withConfig: true,
    options: {
      status: option.choice(DISPUTE_STATUSES, '<name>', `only: ${DISPUTE_STATUSES.join(', ')}`),
      user: option.text('<user>', 'only those of this person: the id or the e-mail address'),
      owner: option.text('<owner>', 'only those of this owner, such as team:7'),
      after: option.text('<cursor>', 'continue after the previous page'),
    },
    run({ options: { status, user, owner, after } }, context) {
      if (user !== null && owner !== null) throw new UsageError('Give --user or --owner')
      return withOperations(context, { onlyReads: true }, async (opened) => {
        const { data, next } = await opened.perform<{
          data: readonly DisputeJson[]
          next: string | null
        }>('billing.listDisputes', {
          limit: PAGE,
          ...(status !== null && { status }),
          ...(await readOwner(opened, { user, owner })),
          ...(after !== null && { after }),
        })
        if (next !== null) context.hint(`There are more disputes: add --after ${next}`)
        const rows = data.map((each) => [
          each.id,
          each.provider,
          each.user_id ?? `${each.owner_type}:${each.owner_id}`,
          each.invoice ?? each.charge,
          `${toDecimal(money(each.amount.amount, each.amount.currency))} ${each.amount.currency}`,
          each.status,
          each.reason ?? '',
          each.opened_at.slice(0, 10),
        ])
        const headers = [
          'ID',
          'PROVIDER',
          'OWNER',
          'INVOICE',
          'AMOUNT',
          'STATUS',
          'REASON',
          'OPENED',
        ]
        return { json: data, text: formatTable(headers, rows, 'There are no disputes') }
      })
    },
  }),
}

/** Returns the filter by owner. The id of a person is not checked: disputes outlast an account. */
async function readOwner(
  opened: OpenOperations,
  { user, owner }: { readonly user: string | null; readonly owner: string | null },
): Promise<{ readonly owner?: string }> {
  if (user === null && owner === null) return {}
  if (user !== null && /^\d+$/.test(user)) return { owner: user }
  return { owner: (await requireOwner(opened, { user: user ?? '', owner })).owner }
}
