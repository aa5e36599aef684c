import type { Hono, MiddlewareHandler } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { DAYS_SHOWN } from '../../statistics/statistics.ts'
import { billingNow } from '../billing/model/dates.ts'
import { noticeOf } from '../billing/model/notices.ts'
import { SandboxStrip } from '../billing/sections/sandbox-strip.tsx'
import { readOwnForm } from '../parts/forms.ts'
import { requireUser } from '../parts/page-context.ts'
import { renderPage } from '../parts/render.tsx'
import { Accounts, accountNotices, addAccounts } from './accounts.tsx'
import { DeadLetters } from './dead-letters.tsx'
import { Plot } from './plot.tsx'
import { plotsOf } from './plots.ts'

const MOST_DEAD_LETTERS = 20
/** In milliseconds; a demo's clock jumps, and its tables are small. */
const MEASURED_EVERY = 60_000

/** For whoever runs the service. To everybody else there is no such page. */
export function addOverview(app: Hono<AppEnv>): void {
  app.get('/overview', requireUser(), requireOperator(), async (c) => {
    const page = c.get('page')
    const { statistics, billing, clock, config, sandbox } = page.service
    await statistics.sample(sandbox ? 0 : MEASURED_EVERY)
    const [read, deadLetters] = await Promise.all([
      statistics.read(DAYS_SHOWN),
      billing.webhooks.deadLetters(MOST_DEAD_LETTERS),
    ])
    const plots = plotsOf({
      statistics: read,
      now: clock.now(),
      billingNow: billingNow(page.service),
      currency: config.settings.currency,
    })
    const retried = c.req.query('done') === 'retried'
    const done = c.req.query('done') ?? ''
    const ofAccount = Object.hasOwn(accountNotices, done) ? accountNotices[done] : undefined
    const notice = retried ? 'The event is tried again.' : (ofAccount ?? noticeOf(done))
    return renderPage(
      c,
      { title: 'Overview' },
      <div class="billing">
        <div class="stack">
          <h1>Overview</h1>
          <SandboxStrip page={page} canDecline={false} />
          {notice && (
            <p class="note good" role="status">
              {notice}
            </p>
          )}
          <p>
            The last {DAYS_SHOWN} days, in UTC.
            {sandbox &&
              ' All but the tokens go by the sandbox’s clock, which may be ahead of ours.'}
          </p>
          <div class="plots">
            {plots.map((plot) => (
              <Plot {...plot} />
            ))}
          </div>
          <DeadLetters page={page} events={deadLetters} most={MOST_DEAD_LETTERS} />
          <Accounts page={page} />
        </div>
      </div>,
    )
  })

  app.post('/overview/retry', requireUser(), requireOperator(), async (c) => {
    const form = await readOwnForm(c)
    const id = form.get('id') ?? ''
    const { billing } = c.get('page').service
    const found = /^\d{1,15}$/.test(id) && (await billing.webhooks.retry(Number(id)))
    return c.redirect(found ? '/overview?done=retried' : '/overview', 303)
  })

  addAccounts(app, requireOperator())
}

function requireOperator(): MiddlewareHandler<AppEnv> {
  return (c, next) =>
    c.get('page').user?.operator ? next() : Promise.resolve(c.notFound() as Response)
}
