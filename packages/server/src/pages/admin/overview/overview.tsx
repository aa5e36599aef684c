import type { StoredWebhook } from '@tollgate/billing'
import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import { billingNow, formatDay } from '../../../dates.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { redactText } from '../../../logger.ts'
import { DAYS_SHOWN } from '../../../statistics/statistics.ts'
import { noticeOf } from '../../billing/model/notices.ts'
import { PROVIDER_NAMES } from '../../billing/model/providers.ts'
import { SandboxControls } from '../../billing/sections/sandbox-controls.tsx'
import { readOwnForm } from '../../parts/forms.ts'
import { OwnForm, usePage } from '../../parts/layout.tsx'
import { renderAdmin, requireRole } from '../parts.tsx'
import { FindPerson } from '../people/find.tsx'
import { Plot } from './plot.tsx'
import { createPlots } from './plots.ts'

const MAX_DEAD_LETTERS = 20
/**
 * Milliseconds between measurements. A demo measures every time, because its clock jumps and its
 * tables are small.
 */
const MEASURE_INTERVAL = 60_000

/** Adds the overview page for operators. For other users it does not exist (404). */
export function addOverview(app: Hono<AppEnv>): void {
  app.get('/admin', requireRole('viewer'), async (c) => {
    const page = c.get('page')
    const { t } = page
    const { statistics, billing, clock, config, sandbox } = page.service
    await statistics.sample(sandbox ? 0 : MEASURE_INTERVAL)
    const [read, deadLetters] = await Promise.all([
      statistics.read(DAYS_SHOWN),
      billing.webhooks.deadLetters(MAX_DEAD_LETTERS),
    ])
    const plots = createPlots({
      statistics: read,
      now: clock.now(),
      billingNow: billingNow(page.service),
      currency: config.settings.currency,
      t,
    })
    const done = c.req.query('done')
    const notice = done === 'retried' ? t('overview.retried') : noticeOf(done, t)?.text
    return renderAdmin(
      c,
      { title: t('admin.overview'), notice },
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
        <DeadLetters events={deadLetters} most={MAX_DEAD_LETTERS} />
      </>,
    )
  })

  app.post('/admin/retry', requireRole('support'), async (c) => {
    const form = await readOwnForm(c)
    const id = form.get('id') ?? ''
    const { billing } = c.get('page').service
    const found = /^\d{1,15}$/.test(id) && (await billing.webhooks.retry(Number(id)))
    return c.redirect(found ? '/admin?done=retried' : '/admin', 303)
  })

  app.get('/overview', (c) => c.redirect('/admin', 301))
}

/** Events that failed at every attempt and wait for an operator. */
const DeadLetters: FC<{
  events: readonly StoredWebhook[]
  most: number
}> = ({ events, most }) => {
  const { t } = usePage()
  return (
    <section class="card stack" aria-labelledby="dead-title">
      <h2 id="dead-title">{t('overview.deadLetters')}</h2>
      {events.length === 0 ? (
        <p>{t('overview.deadLetters.none')}</p>
      ) : (
        <>
          <p>
            {events.length === most
              ? t('overview.deadLetters.first', { count: most })
              : t('overview.deadLetters.text')}
          </p>
          <ul class="letters">
            {events.map((event) => (
              <DeadLetter event={event} />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

const DeadLetter: FC<{ event: StoredWebhook }> = ({ event }) => {
  const { t } = usePage()
  const { id, type, eventId, provider, receivedAt, attempts, lastError } = event
  return (
    <li>
      <p>
        {t.parts('overview.deadLetters.event', {
          type: <strong>{type}</strong>,
          provider: PROVIDER_NAMES[provider],
          date: formatDay(receivedAt, t.locale),
          attempts,
        })}
      </p>
      <p>
        <code lang="en">{redactText(lastError ?? '')}</code>
      </p>
      <OwnForm action="/admin/retry">
        <input type="hidden" name="id" value={id} />
        <button
          type="submit"
          aria-label={t('overview.deadLetters.retryName', { type, id: eventId })}
        >
          {t('overview.deadLetters.retry')}
        </button>
      </OwnForm>
    </li>
  )
}
