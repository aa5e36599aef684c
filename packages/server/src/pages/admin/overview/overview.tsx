import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { OperatorActor } from '../../../admin/audit/caller.ts'
import type { TopQuotaJson } from '../../../admin/operations/quotas.ts'
import { formatDay, getBillingTime } from '../../../dates.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { redactText } from '../../../logger.ts'
import { DAYS_SHOWN } from '../../../statistics/statistics.ts'
import { findFormNotice } from '../../billing/model/notices.ts'
import { SandboxControls } from '../../billing/sections/sandbox-controls.tsx'
import { usePage } from '../../parts/layout.tsx'
import { describeProvider } from '../billing/describe-provider.ts'
import { TopUse } from '../billing/quotas.tsx'
import {
  AdminForm,
  getOperator,
  mayCall,
  renderAdmin,
  requireRole,
  runOperation,
} from '../parts.tsx'
import { FindPerson } from '../people/find.tsx'
import { Plot } from './plot.tsx'
import { createPlots } from './plots.ts'

const MAX_DEAD_LETTERS = 20
/**
 * Milliseconds between measurements. A demo measures every time, because its clock jumps and its
 * tables are small.
 */
const MEASURE_INTERVAL = 60_000

/** An event of a provider, as `webhooks.list` returns it. */
interface DeadLetterJson {
  readonly id: number
  readonly provider: string
  readonly event_id: string
  readonly type: string
  readonly attempts: number
  readonly last_error: string | null
  readonly received_at: string
}

/** Adds the overview page for operators. For other users it does not exist (404). */
export function addOverviewPage(app: Hono<AppEnv>): void {
  app.get('/admin', requireRole('viewer'), async (c) => {
    const page = c.get('page')
    const { t } = page
    const { statistics, clock, config, sandbox } = page.service
    await statistics.sample(sandbox ? 0 : MEASURE_INTERVAL)
    const [read, top, deadLetters] = await Promise.all([
      statistics.read(DAYS_SHOWN),
      runOperation<{ data: TopQuotaJson[] }>(c, 'billing.listTopUse', {}),
      runOperation<{ data: DeadLetterJson[]; next: string | null }>(c, 'webhooks.list', {
        state: 'dead',
        limit: MAX_DEAD_LETTERS,
      }),
    ])
    const plots = createPlots({
      statistics: read,
      now: clock.now(),
      billingNow: getBillingTime(page.service),
      currency: config.settings.currency,
      t,
    })
    return renderAdmin(
      c,
      { title: t('admin.overview'), notice: findFormNotice(c.req.query('done'), t)?.text },
      <>
        <h1>{t('admin.overview')}</h1>
        <SandboxControls canDecline={false} />
        <FindPerson />
        <p>
          {t('overview.period', { days: DAYS_SHOWN })} {sandbox && t('overview.sandboxClock')}
        </p>
        <div class="plots">
          {plots.map((plot) => (
            <Plot {...plot} />
          ))}
        </div>
        {page.service.gate && <TopUse top={top.data} />}
        <DeadLetters
          events={deadLetters.data}
          hasMore={deadLetters.next !== null}
          operator={getOperator(c)}
        />
      </>,
    )
  })

  app.get('/overview', (c) => c.redirect('/admin', 301))
}

/** Events that failed at every attempt and wait for an operator. */
const DeadLetters: FC<{
  events: readonly DeadLetterJson[]
  hasMore: boolean
  operator: OperatorActor
}> = ({ events, hasMore, operator }) => {
  const { t } = usePage()
  return (
    <section class="card stack" aria-labelledby="dead-title">
      <h2 id="dead-title">{t('overview.deadLetters')}</h2>
      {events.length === 0 ? (
        <p>{t('overview.deadLetters.none')}</p>
      ) : (
        <>
          <p>
            {hasMore
              ? t('overview.deadLetters.first', { count: events.length })
              : t('overview.deadLetters.text')}
          </p>
          <ul class="letters">
            {events.map((event) => (
              <DeadLetter event={event} canRetry={mayCall(operator, 'webhooks.retry')} />
            ))}
          </ul>
        </>
      )}
      <p>
        <a href="/admin/webhooks">{t('overview.webhooks')}</a>
      </p>
    </section>
  )
}

const DeadLetter: FC<{ event: DeadLetterJson; canRetry: boolean }> = ({ event, canRetry }) => {
  const { t } = usePage()
  const { id, type, event_id, provider, received_at, attempts, last_error } = event
  const path = `/admin/webhooks/received/${id}`
  return (
    <li>
      <p>
        {t.parts('overview.deadLetters.event', {
          type: <strong>{canRetry ? <a href={path}>{type}</a> : type}</strong>,
          provider: describeProvider(provider),
          date: formatDay(new Date(received_at), t.locale),
          attempts,
        })}
      </p>
      <p>
        <code lang="en">{redactText(last_error ?? '')}</code>
      </p>
      {canRetry && (
        <AdminForm action={`${path}/retry`}>
          <button
            type="submit"
            aria-label={t('overview.deadLetters.retryName', { type, id: event_id })}
          >
            {t('overview.deadLetters.retry')}
          </button>
        </AdminForm>
      )}
    </li>
  )
}
