import { money } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { DisputeJson } from '../../../admin/operations/disputes.ts'
import { formatAmount } from '../../../messages/messages.ts'
import { usePage } from '../../parts/layout.tsx'
import { Day, Table } from '../../parts/table.tsx'
import type { BillingSectionProps } from './owner-data.ts'

const TONES = { inquiry: 'warning', open: 'bad', won: 'good', lost: '' } as const

/** A table of disputes, with their invoices and, in the list of all, the person or team. */
export const DisputeTable: FC<{ disputes: readonly DisputeJson[]; withOwner?: boolean }> = ({
  disputes,
  withOwner = false,
}) => {
  const { t } = usePage()
  return (
    <Table
      caption={t('admin.disputes')}
      columns={[
        t('disputes.opened'),
        t('invoices.amount'),
        t('invoices.state'),
        t('disputes.reason'),
        t('people.invoice'),
        ...(withOwner ? [t('disputes.owner')] : []),
      ]}
      rows={disputes.map((dispute) => {
        const { amount, status, reason, invoice, charge } = dispute
        return [
          <Day at={new Date(dispute.opened_at)} />,
          formatAmount(money(amount.amount, amount.currency), t),
          <span class={`badge ${TONES[status]}`}>{t(`disputes.status.${status}`)}</span>,
          reason === null ? t('table.none') : <code>{reason}</code>,
          <code>{invoice ?? charge}</code>,
          ...(withOwner ? [<Owner dispute={dispute} />] : []),
        ]
      })}
    />
  )
}

const Owner: FC<{ dispute: DisputeJson }> = ({ dispute: { owner_type: type, owner_id: id } }) => {
  const { t } = usePage()
  return type === 'team' ? (
    <a href={`/admin/teams/${encodeURIComponent(id)}`}>{t('disputes.team', { id })}</a>
  ) : (
    <a href={`/admin/people/${encodeURIComponent(id)}`}>{t('disputes.person', { id })}</a>
  )
}

/** The disputes of a person or team. Renders nothing if there are none. */
export const Disputes: FC<BillingSectionProps> = ({ data: { disputes } }) => {
  if (disputes.length === 0) return null
  return (
    <section class="card" aria-labelledby="disputes-title">
      <h2 id="disputes-title">{usePage().t('admin.disputes')}</h2>
      <DisputeTable disputes={disputes} />
    </section>
  )
}
