import { money } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { formatAmount } from '../../../messages/messages.ts'
import { usePage } from '../../parts/layout.tsx'
import { Day, Table } from '../../parts/table.tsx'
import type { BillingSectionProps } from './owner-data.ts'

/** The credit notes of a person or team. Renders nothing if there are none. */
export const CreditNotes: FC<BillingSectionProps> = ({ data: { creditNotes } }) => {
  const { t } = usePage()
  if (creditNotes?.length === 0) return null
  return (
    <section class="card" aria-labelledby="credit-notes-title">
      <h2 id="credit-notes-title">{t('people.creditNotes')}</h2>
      {creditNotes === null ? (
        <p>{t('people.away')}</p>
      ) : (
        <Table
          caption={t('people.creditNotes')}
          columns={[
            t('invoices.creditNote'),
            t('people.invoice'),
            t('invoices.date'),
            t('invoices.amount'),
            t('invoices.state'),
          ]}
          rows={creditNotes.map((note) => [
            note.number,
            note.invoice_number,
            <Day at={new Date(note.date)} />,
            formatAmount(money(note.total.amount, note.total.currency), t),
            t(note.void ? 'invoices.creditNoteVoid' : 'invoices.creditNote'),
          ])}
        />
      )}
    </section>
  )
}
