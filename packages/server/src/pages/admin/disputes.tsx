import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import { DISPUTE_STATUSES, type DisputeJson } from '../../admin/operations/disputes.ts'
import type { AppEnv } from '../../http/variables.ts'
import { Heading, usePage } from '../parts/layout.tsx'
import { DisputeTable } from './billing/dispute-table.tsx'
import { Pager, renderAdmin, requireRole, runOperation } from './parts.tsx'

/** Adds the list of disputes. */
export function addDisputesPage(app: Hono<AppEnv>): void {
  app.get('/admin/disputes', requireRole('viewer'), async (c) => {
    const { t } = c.get('page')
    const status = DISPUTE_STATUSES.find((name) => name === c.req.query('status'))
    const after = c.req.query('after')
    const { data, next } = await runOperation<{
      data: readonly DisputeJson[]
      next: string | null
    }>(c, 'billing.listDisputes', {
      ...(status && { status }),
      ...(after !== undefined && { after }),
    })
    return renderAdmin(
      c,
      { title: t('admin.disputes') },
      <>
        <Heading title={t('admin.disputes')} lead={t('disputes.lead')} />
        <section class="card stack" aria-label={t('admin.disputes')}>
          <StatusFilter chosen={status} />
          {data.length === 0 ? (
            <p>{t('disputes.none')}</p>
          ) : (
            <DisputeTable disputes={data} withOwner />
          )}
          <Pager c={c} next={next} />
        </section>
      </>,
    )
  })
}

const StatusFilter: FC<{ chosen: DisputeJson['status'] | undefined }> = ({ chosen }) => {
  const { t } = usePage()
  return (
    <nav class="row" aria-label={t('disputes.filter')}>
      {[undefined, ...DISPUTE_STATUSES].map((status) => (
        <a
          class="button small"
          href={status ? `/admin/disputes?status=${status}` : '/admin/disputes'}
          aria-current={status === chosen ? 'true' : undefined}
        >
          {status ? t(`disputes.status.${status}`) : t('disputes.all')}
        </a>
      ))}
    </nav>
  )
}
