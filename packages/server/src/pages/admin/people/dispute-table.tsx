import { money } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { DisputeJson } from '../../../admin/operations/disputes.ts'
import { formatAmount } from '../../../messages/messages.ts'
import { usePage } from '../../parts/layout.tsx'
import { Day, Table } from '../../parts/table.tsx'
import type { PersonSectionProps } from './person-data.ts'
import { pathOf } from './person-path.ts'

const TONES = { inquiry: 'warning', open: 'bad', won: 'good', lost: '' } as const

/** A table of disputes, with their invoices and, in the list of all people, their persons. */
export const DisputeTable: FC<{ disputes: readonly DisputeJson[]; withPerson?: boolean }> = ({
  disputes,
  withPerson = false,
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
        ...(withPerson ? [t('people.person')] : []),
      ]}
      rows={disputes.map((dispute) => {
        const { amount, status, reason, invoice, charge, user_id: user } = dispute
        const person = user && <a href={pathOf(user)}>{t('disputes.person', { id: user })}</a>
        return [
          <Day at={new Date(dispute.opened_at)} />,
          formatAmount(money(amount.amount, amount.currency), t),
          <span class={`badge ${TONES[status]}`}>{t(`disputes.status.${status}`)}</span>,
          reason === null ? t('table.none') : <code>{reason}</code>,
          <code>{invoice ?? charge}</code>,
          ...(withPerson ? [person ?? t('table.none')] : []),
        ]
      })}
    />
  )
}

/** The disputes of a person. Nothing if there are none. */
export const Disputes: FC<PersonSectionProps> = ({ data: { disputes } }) => {
  if (disputes.length === 0) return null
  return (
    <section class="card" aria-labelledby="disputes-title">
      <h2 id="disputes-title">{usePage().t('admin.disputes')}</h2>
      <DisputeTable disputes={disputes} />
    </section>
  )
}
