import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { CsrfField } from '../../parts/layout.tsx'
import { renderPage } from '../../parts/render.tsx'
import { endsAtOnce, orNull, readAccount, requireRunning } from '../model/account.ts'
import { formatDay } from '../model/dates.ts'
import { BadChoice } from '../model/problems.ts'
import { BillingFrame } from '../sections/frame.tsx'
import { addForm, type FormRequest } from './add-form.ts'
import { addPage } from './add-page.ts'

/** What each way of ending it means, with the date; and the end itself. */
export function addCancelPage(app: Hono<AppEnv>): void {
  addForm(app, '/billing/cancel', cancel)
  addForm(app, '/billing/cancel-now', cancelNow)
  addPage(app, '/billing/cancel', async (c) => {
    const page = c.get('page')
    const account = await readAccount(c)
    const { running } = account
    if (!running || running.incomplete()) return c.redirect('/billing', 303)
    const until = await orNull(running.paidUntil())
    return renderPage(
      c,
      { title: 'Cancel' },
      <BillingFrame>
        <section class="card narrow stack">
          <h1>Cancel the subscription?</h1>
          {!running.cancelled() && !endsAtOnce(running) && (
            <form method="post" action="/billing/cancel" data-once>
              <CsrfField page={page} />
              <h2>At the end{until ? `, on ${formatDay(until)}` : ' of the period'}</h2>
              <p>
                You keep what you have {running.onTrial() ? 'until the trial ends' : 'paid for'},
                and nothing more will be charged. Until then you can change your mind.
              </p>
              <button class="primary" type="submit">
                {until ? `Cancel on ${formatDay(until)}` : 'Cancel at the end'}
              </button>
            </form>
          )}
          <form method="post" action="/billing/cancel-now" data-once>
            <CsrfField page={page} />
            <h2>Now</h2>
            <p>It ends at once. Nothing is paid back, and it cannot be undone.</p>
            <label class="check">
              <input type="checkbox" name="confirm" value="yes" required /> I want it to end at once
            </label>
            <button class="danger" type="submit">
              Cancel now
            </button>
          </form>
          <p>
            <a href="/billing">Keep the subscription</a>
          </p>
        </section>
      </BillingFrame>,
    )
  })
}

async function cancel({ account }: FormRequest) {
  if (!account.running && account.history.length > 0) return 'cancelled' as const
  await requireRunning(account).cancel()
  return 'cancelled' as const
}

async function cancelNow({ account, form }: FormRequest) {
  if (form.get('confirm') !== 'yes') {
    throw new BadChoice('Please tick the box that you want it to end at once.')
  }
  if (!account.running && account.history.length > 0) return 'ended' as const
  await requireRunning(account).cancelNow()
  return 'ended' as const
}
