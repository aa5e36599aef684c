import { money, type ProviderName } from '@tollgate/billing'
import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../../../http/variables.ts'
import { formatAmount } from '../../../messages/messages.ts'
import { hasCreditNotes } from '../../billing/model/providers.ts'
import { usePage } from '../../parts/layout.tsx'
import { Day, Table } from '../../parts/table.tsx'
import { getOperator, mayCall, Pager, renderAdmin, requireRole } from '../parts.tsx'
import type { ActionPages } from './action.tsx'
import {
  type BillingSectionProps,
  type InvoiceJson,
  type Payer,
  readInvoices,
} from './owner-data.ts'

const PER_PAGE = 50

/** Adds the pages with all invoices of a person or team. */
export function addInvoicesPage<Subject extends Payer>(
  app: Hono<AppEnv>,
  pages: ActionPages<Subject>,
): void {
  app.get(`${pages.path}/:id/invoices`, requireRole('viewer'), async (c) => {
    const { t } = c.get('page')
    const payer = await pages.read(c, c.req.param('id') ?? '')
    const after = c.req.query('after')
    const limit = PER_PAGE
    const page = await readInvoices(
      c,
      payer.owner,
      after === undefined ? { limit } : { limit, after },
    )
    const operator = getOperator(c)
    const isFree = !pages.isForbidden(c, payer)
    return renderAdmin(
      c,
      { title: t('people.invoices') },
      <>
        <h1>{t.parts('people.invoicesOf', { name: <bdi>{payer.name}</bdi> })}</h1>
        <section class="card" aria-label={t('people.invoices')}>
          <InvoiceTable
            path={payer.path}
            invoices={page.data}
            can={(name) => isFree && mayCall(operator, name)}
          />
          <Pager c={c} next={page.next} />
        </section>
        <p>
          <a href={payer.path}>{t.parts('people.backTo', { name: <bdi>{payer.name}</bdi> })}</a>
        </p>
      </>,
    )
  })
}

/** The newest invoices of a person or team. */
export const Invoices: FC<BillingSectionProps> = ({ data: { payer, invoices }, can }) => {
  const { t } = usePage()
  const { path } = payer
  return (
    <section class="card" aria-labelledby="invoices-title">
      <h2 id="invoices-title">{t('people.invoices')}</h2>
      {invoices === null ? (
        <p>{t('people.away')}</p>
      ) : invoices.data.length === 0 ? (
        <p>{t('people.invoices.none')}</p>
      ) : (
        <InvoiceTable path={path} invoices={invoices.data} can={can} />
      )}
      {invoices?.next && (
        <p>
          <a href={`${path}/invoices`}>{t('people.invoices.all')}</a>
        </p>
      )}
    </section>
  )
}

interface InvoiceTableProps {
  readonly path: string
  readonly invoices: readonly InvoiceJson[]
  readonly can: BillingSectionProps['can']
}

const InvoiceTable: FC<InvoiceTableProps> = ({ path, invoices, can }) => {
  const { t } = usePage()
  const withActs = ['billing.refund', 'billing.issueCreditNote', 'billing.voidInvoice'].some(can)
  const columns = [
    t('people.invoice'),
    t('invoices.date'),
    t('invoices.amount'),
    t('invoices.state'),
  ]
  return (
    <Table
      caption={t('people.invoices')}
      columns={withActs ? [...columns, t('table.actions')] : columns}
      rows={invoices.map((invoice) => {
        const { number, date, status, total } = invoice
        const cells = [
          number,
          <Day at={new Date(date)} />,
          formatAmount(money(total.amount, total.currency), t),
          <span class={`badge ${{ paid: 'good', unpaid: 'warning', void: '' }[status]}`}>
            {t(`people.invoice.${status}`)}
          </span>,
        ]
        return withActs ? [...cells, <InvoiceAct path={path} invoice={invoice} can={can} />] : cells
      })}
    />
  )
}

/** The actions that the state of an invoice allows. */
const InvoiceAct: FC<Omit<InvoiceTableProps, 'invoices'> & { invoice: InvoiceJson }> = ({
  path,
  can,
  invoice: { id, number, status, provider, total },
}) => {
  const { t } = usePage()
  const object = `?object=${encodeURIComponent(id)}`
  return (
    <div class="row">
      {status === 'paid' && total.amount > 0 && can('billing.refund') && (
        <a
          class="button small"
          href={`${path}/refund${object}`}
          aria-label={t('people.refundOf', { number })}
        >
          {t('people.refund.go')}
        </a>
      )}
      {status !== 'void' &&
        total.amount > 0 &&
        hasCreditNotes(provider as ProviderName) &&
        can('billing.issueCreditNote') && (
          <a
            class="button small"
            href={`${path}/credit-note${object}`}
            aria-label={t('people.creditNoteOf', { number })}
          >
            {t('invoices.creditNote')}
          </a>
        )}
      {status === 'unpaid' && provider === 'stripe' && can('billing.voidInvoice') && (
        <a
          class="button small danger-quiet"
          href={`${path}/void-invoice${object}`}
          aria-label={t('people.voidOf', { number })}
        >
          {t('people.voidInvoice.go')}
        </a>
      )}
    </div>
  )
}
