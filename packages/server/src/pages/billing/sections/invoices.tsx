import type { Invoice } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { Table } from '../../parts/table.tsx'
import { formatDay } from '../model/dates.ts'

/** Null: the provider did not tell. */
export const Invoices: FC<{ invoices: readonly Invoice[] | null; isCustomer: boolean }> = ({
  invoices,
  isCustomer,
}) => {
  if (!isCustomer) return null
  return (
    <section class="card" aria-labelledby="invoices-title">
      <h2 id="invoices-title">Invoices</h2>
      {invoices === null && <p>The payment provider does not answer. Please look again later.</p>}
      {invoices?.length === 0 && <p>There are none yet.</p>}
      {invoices && invoices.length > 0 && <InvoiceTable invoices={invoices} />}
    </section>
  )
}

const InvoiceTable: FC<{ invoices: readonly Invoice[] }> = ({ invoices }) => (
  <Table
    caption="Invoices"
    columns={['Date', 'Amount', 'State', 'File']}
    rows={invoices.map((invoice) => [
      formatDay(invoice.date()),
      invoice.total(),
      invoice.paid ? 'Paid' : 'Open',
      <a
        href={`/user/invoice/${encodeURIComponent(invoice.id)}`}
        aria-label={`Invoice of ${formatDay(invoice.date())} over ${invoice.total()}, PDF`}
      >
        PDF
      </a>,
    ])}
  />
)
