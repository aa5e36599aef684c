import type { CreditNote, Invoice } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { Table } from '../../parts/table.tsx'
import type { ProviderView } from '../model/account.ts'
import { formatDay } from '../model/dates.ts'

type InvoicesView = Pick<ProviderView, 'invoices' | 'creditNotes'> & {
  readonly isCustomer: boolean
}

/** Null: the provider did not tell. */
export const Invoices: FC<InvoicesView> = ({ invoices, creditNotes, isCustomer }) => {
  if (!isCustomer) return null
  const documents = newestFirst([
    ...(invoices ?? []).map(ofInvoice),
    ...(creditNotes ?? []).map(ofCreditNote),
  ])
  const isAway = invoices === null || creditNotes === null
  return (
    <section class="card" aria-labelledby="invoices-title">
      <h2 id="invoices-title">Invoices</h2>
      {isAway && <p>The payment provider does not answer. Please look again later.</p>}
      {!isAway && documents.length === 0 && <p>There are none yet.</p>}
      {documents.length > 0 && <Documents documents={documents} />}
    </section>
  )
}

interface Document {
  readonly date: Date
  readonly total: string
  readonly state: string
  readonly name: string
  readonly path: string
}

function ofInvoice(invoice: Invoice): Document {
  return {
    date: invoice.date(),
    total: invoice.total(),
    state: stateOf(invoice),
    name: 'Invoice',
    path: `/user/invoice/${encodeURIComponent(invoice.id)}`,
  }
}

/** At Braintree nothing waits to be paid: the charge went through, and its money takes some days. */
function stateOf({ paid, voided, data }: Invoice): string {
  if (paid) return 'Paid'
  if (voided) return 'Void'
  return data.provider === 'braintree' ? 'On its way' : 'Open'
}

function ofCreditNote(note: CreditNote): Document {
  return {
    date: note.date(),
    total: `−${note.total()}`,
    state: note.isVoid ? 'Credit note, void' : 'Credit note',
    name: 'Credit note',
    path: `/billing/credit-note/${encodeURIComponent(note.id)}`,
  }
}

function newestFirst(documents: Document[]): Document[] {
  return documents.sort((a, b) => b.date.getTime() - a.date.getTime())
}

const Documents: FC<{ documents: readonly Document[] }> = ({ documents }) => (
  <Table
    caption="Invoices"
    columns={['Date', 'Amount', 'State', 'File']}
    rows={documents.map(({ date, total, state, name, path }) => [
      formatDay(date),
      total,
      state,
      <a href={path} aria-label={`${name} of ${formatDay(date)} over ${total}, PDF`}>
        PDF
      </a>,
    ])}
  />
)
