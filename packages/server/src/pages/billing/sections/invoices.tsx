import type { CreditNote, Invoice } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { formatDay } from '../../../dates.ts'
import type { PageContext } from '../../../http/variables.ts'
import type { PageText } from '../../../messages/messages.ts'
import { usePage } from '../../parts/layout.tsx'
import { Table } from '../../parts/table.tsx'
import type { ProviderView } from '../model/account.ts'

type InvoicesView = Pick<ProviderView, 'invoices' | 'creditNotes'> & {
  readonly isCustomer: boolean
}

/** The list of invoices and credit notes. Either is `null` if it could not be fetched. */
export const Invoices: FC<InvoicesView> = ({ invoices, creditNotes, isCustomer }) => {
  if (!isCustomer) return null
  const page = usePage()
  const { t } = page
  const documents = newestFirst([
    ...(invoices ?? []).map((invoice) => toInvoiceDocument(invoice, page)),
    ...(creditNotes ?? []).map((note) => toCreditNoteDocument(note, page)),
  ])
  const isAway = invoices === null || creditNotes === null
  return (
    <section class="card" aria-labelledby="invoices-title">
      <h2 id="invoices-title">{t('invoices.title')}</h2>
      {isAway && <p>{t('invoices.away')}</p>}
      {!isAway && documents.length === 0 && <p>{t('invoices.none')}</p>}
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

/** Locale for amounts. English uses the format of the invoice. */
function findAmountLocale({ language }: PageText): string | undefined {
  return language === 'en' ? undefined : language
}

function toInvoiceDocument(invoice: Invoice, { t, payer }: PageContext): Document {
  const folder = payer.membership ? `${payer.path}/invoice` : '/user/invoice'
  return {
    date: invoice.date(),
    total: invoice.total(findAmountLocale(t)),
    state: describeInvoiceState(invoice, t),
    name: t('invoices.invoice'),
    path: `${folder}/${encodeURIComponent(invoice.id)}`,
  }
}

/**
 * An unpaid Braintree invoice is never open: the charge succeeded, and its settlement takes a few
 * days.
 */
function describeInvoiceState({ paid, voided, data }: Invoice, t: PageText): string {
  if (paid) return t('invoices.paid')
  if (voided) return t('invoices.void')
  return t(data.provider === 'braintree' ? 'invoices.onItsWay' : 'invoices.open')
}

function toCreditNoteDocument(note: CreditNote, { t, payer }: PageContext): Document {
  return {
    date: note.date(),
    total: `−${note.total(findAmountLocale(t))}`,
    state: t(note.isVoid ? 'invoices.creditNoteVoid' : 'invoices.creditNote'),
    name: t('invoices.creditNote'),
    path: `${payer.path}/credit-note/${encodeURIComponent(note.id)}`,
  }
}

function newestFirst(documents: Document[]): Document[] {
  return documents.sort((a, b) => b.date.getTime() - a.date.getTime())
}

const Documents: FC<{ documents: readonly Document[] }> = ({ documents }) => {
  const { t } = usePage()
  return (
    <Table
      caption={t('invoices.title')}
      columns={[t('invoices.date'), t('invoices.amount'), t('invoices.state'), t('invoices.file')]}
      rows={documents.map(({ date: at, total, state, name, path }) => {
        const date = formatDay(at, t.locale)
        return [
          date,
          total,
          state,
          <a href={path} aria-label={t('invoices.link', { name, date, total })}>
            PDF
          </a>,
        ]
      })}
    />
  )
}
