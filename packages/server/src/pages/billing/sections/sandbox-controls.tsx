import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import Stripe from 'stripe'
import type { ServiceContext } from '../../../context.ts'
import { formatDay } from '../../../dates.ts'
import type { BothProviders } from '../../../demo/providers.ts'
import { localPath } from '../../../http/same-origin.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { getSignedInUser, readCsrfForm, requireUser } from '../../parts/forms.ts'
import { CsrfForm, usePage } from '../../parts/layout.tsx'
import type { CompletedBillingAction } from '../model/notices.ts'
import { failNextCharge } from '../model/test-cards.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** How far a button moves the clock. */
const STEPS: ReadonlyArray<{
  readonly id: 'sandbox.day' | 'sandbox.week' | 'sandbox.month'
  readonly from: (now: Date) => Date
}> = [
  { id: 'sandbox.day', from: (now) => new Date(now.getTime() + DAY) },
  { id: 'sandbox.week', from: (now) => new Date(now.getTime() + 7 * DAY) },
  { id: 'sandbox.month', from: addMonth },
]

/** Farthest advance that a button makes. */
const MAX_ADVANCE = 32 * DAY

/** Adds a month. Uses the last day of the next month if that month is shorter. */
function addMonth(now: Date): Date {
  const next = new Date(now)
  next.setUTCDate(1)
  next.setUTCMonth(next.getUTCMonth() + 1)
  const days = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0)).getUTCDate()
  next.setUTCDate(Math.min(now.getUTCDate(), days))
  return next
}

/** Buttons of a demo that advance the sandbox's clock and have the next charge declined. */
export const SandboxControls: FC<{ canDecline: boolean }> = ({ canDecline }) => {
  const { path, service, t } = usePage()
  const { sandbox } = service
  if (!sandbox) return null
  const now = sandbox.clock.now()
  return (
    <section class="sandbox" aria-labelledby="sandbox-title">
      <h2 id="sandbox-title">
        {t.parts('sandbox.now', {
          date: <time datetime={now.toISOString()}>{formatDay(now, t.locale)}</time>,
        })}
      </h2>
      <p>{t('sandbox.text')}</p>
      <div class="row">
        {STEPS.map(({ id, from }) => (
          <CsrfForm action="/sandbox/clock">
            <input type="hidden" name="return_to" value={path} />
            <input type="hidden" name="to" value={from(now).toISOString()} />
            <button type="submit">{t(id)}</button>
          </CsrfForm>
        ))}
        {canDecline && (
          <CsrfForm action="/sandbox/decline">
            <input type="hidden" name="return_to" value={path} />
            <button type="submit">{t('sandbox.decline')}</button>
          </CsrfForm>
        )}
        {sandbox.controlRoom && <a href={sandbox.controlRoom.url}>{t('sandbox.controlRoom')}</a>}
      </div>
    </section>
  )
}

/** Adds the routes for the buttons of the sandbox. They do not exist in production. */
export function addSandboxControls(app: Hono<AppEnv>, { sandbox }: ServiceContext): void {
  if (!sandbox) return

  app.post('/sandbox/clock', requireUser(), async (c) => {
    const form = await readCsrfForm(c)
    const { service } = c.get('page')
    const to = new Date(form.get('to') ?? '')
    const distance = to.getTime() - sandbox.clock.nowMs()
    // The form sends a time instead of a step, so that a double click advances the clock once.
    if (distance > 0 && distance <= MAX_ADVANCE) await advanceClock(service, sandbox, to)
    return c.redirect(buildDoneUrl(form, 'clock-moved'), 303)
  })

  app.post('/sandbox/decline', requireUser(), async (c) => {
    const form = await readCsrfForm(c)
    const { billing } = c.get('page').service
    const { provider, providerId: id } = await billing.user(Number(getSignedInUser(c).id))
    if (id === null) return c.redirect('/billing', 303)
    failNextCharge(sandbox, { provider, id })
    return c.redirect(buildDoneUrl(form, 'charge-armed'), 303)
  })
}

function buildDoneUrl(form: URLSearchParams, done: CompletedBillingAction): string {
  const path = localPath(form.get('return_to'), '/billing')
  return `${path.split('?')[0]}?done=${done}`
}

/** Advances the sandbox's clock, and waits until the resulting provider events are processed. */
export async function advanceClock(
  { billing, statistics }: ServiceContext,
  sandbox: BothProviders,
  to: Date,
): Promise<void> {
  await sandbox.clock.advanceTo(to).catch((error: unknown) => {
    // Another request, or the clock itself, has already advanced further.
    if (!(error instanceof RangeError)) throw error
  })
  await advancePastCharges(sandbox)
  await processPendingWork({ billing, statistics }, sandbox)
}

/**
 * Advances the clock past the hour between the creation of a Stripe renewal invoice and its charge,
 * because people expect to see the charge.
 */
async function advancePastCharges({
  clock,
  stripe: { apiKey, config },
}: BothProviders): Promise<void> {
  const stripe = new Stripe(apiKey, config)
  const { data } = await stripe.invoices.list({ status: 'draft', limit: 100 })
  const due = data.map(({ automatically_finalizes_at }) => (automatically_finalizes_at ?? 0) * 1000)
  const soon = due.filter((at) => at > clock.nowMs() && at <= clock.nowMs() + 2 * HOUR)
  if (soon.length > 0) await clock.advanceTo(new Date(Math.max(...soon)))
}

export async function processPendingWork(
  { billing, statistics }: Pick<ServiceContext, 'billing' | 'statistics'>,
  sandbox: BothProviders,
): Promise<void> {
  await sandbox.outbox.flush()
  await billing.process()
  await statistics.sample()
}
