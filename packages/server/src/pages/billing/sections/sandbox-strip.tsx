import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import Stripe from 'stripe'
import type { ServiceContext } from '../../../context.ts'
import type { BothProviders } from '../../../demo/providers.ts'
import { localPath } from '../../../http/same-origin.ts'
import type { AppEnv, PageContext } from '../../../http/variables.ts'
import { readOwnForm } from '../../parts/forms.ts'
import { CsrfField } from '../../parts/layout.tsx'
import { requireUser, userOf } from '../../parts/page-context.ts'
import { formatDay } from '../model/dates.ts'
import type { Done } from '../model/notices.ts'
import { failNextCharge } from '../model/test-cards.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Where a button takes the clock. */
const STEPS: ReadonlyArray<{ label: string; from: (now: Date) => Date }> = [
  { label: 'A day', from: (now) => new Date(now.getTime() + DAY) },
  { label: 'A week', from: (now) => new Date(now.getTime() + 7 * DAY) },
  { label: 'A month', from: addMonth },
]

/** No further than a button leads. */
const FARTHEST = 32 * DAY

/** The same day of the next month, or its last one. */
function addMonth(now: Date): Date {
  const next = new Date(now)
  next.setUTCDate(1)
  next.setUTCMonth(next.getUTCMonth() + 1)
  const days = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0)).getUTCDate()
  next.setUTCDate(Math.min(now.getUTCDate(), days))
  return next
}

/** In a demo, time and trouble are at hand on the page itself. */
export const SandboxStrip: FC<{ page: PageContext; canDecline: boolean }> = (props) => {
  const { page, canDecline } = props
  const { sandbox } = page.service
  if (!sandbox) return null
  const now = sandbox.clock.now()
  return (
    <section class="sandbox" aria-labelledby="sandbox-title">
      <h2 id="sandbox-title">
        It is <time datetime={now.toISOString()}>{formatDay(now)}</time> in the sandbox
      </h2>
      <p>No money moves here. Let time pass, and see what becomes of a subscription:</p>
      <div class="row">
        {STEPS.map(({ label, from }) => (
          <form method="post" action="/sandbox/clock">
            <CsrfField page={page} />
            <input type="hidden" name="return_to" value={page.path} />
            <input type="hidden" name="to" value={from(now).toISOString()} />
            <button type="submit">{label} later</button>
          </form>
        ))}
        {canDecline && (
          <form method="post" action="/sandbox/decline">
            <CsrfField page={page} />
            <input type="hidden" name="return_to" value={page.path} />
            <button type="submit">Fail the next charge</button>
          </form>
        )}
        {sandbox.controlRoom && <a href={sandbox.controlRoom.url}>Control room</a>}
      </div>
    </section>
  )
}

/** In production there is nothing at these addresses. */
export function addSandboxControls(app: Hono<AppEnv>, { sandbox }: ServiceContext): void {
  if (!sandbox) return

  app.post('/sandbox/clock', requireUser(), async (c) => {
    const form = await readOwnForm(c)
    const { service } = c.get('page')
    const to = new Date(form.get('to') ?? '')
    const distance = to.getTime() - sandbox.clock.nowMs()
    // A moment and not a step: a second click leads to where the first one has led.
    if (distance > 0 && distance <= FARTHEST) await letTimePass(service, sandbox, to)
    return c.redirect(after(form, 'clock-moved'), 303)
  })

  app.post('/sandbox/decline', requireUser(), async (c) => {
    const form = await readOwnForm(c)
    const { billing } = c.get('page').service
    const { provider, providerId: id } = await billing.user(Number(userOf(c).id))
    if (id === null) return c.redirect('/billing', 303)
    failNextCharge(sandbox, { provider, id })
    return c.redirect(after(form, 'charge-armed'), 303)
  })
}

function after(form: URLSearchParams, done: Done): string {
  const path = localPath(form.get('return_to'), '/billing')
  return `${path.split('?')[0]}?done=${done}`
}

/** Moves the clock, and waits until all that happened on the way has reached our own rows. */
export async function letTimePass(
  { billing, statistics }: ServiceContext,
  sandbox: BothProviders,
  to: Date,
): Promise<void> {
  await sandbox.clock.advanceTo(to).catch((error: unknown) => {
    // Another click, or the clock itself, was there first.
    if (!(error instanceof RangeError)) throw error
  })
  await untilCharged(sandbox)
  await settle({ billing, statistics }, sandbox)
}

/** Stripe charges a renewal an hour after it began; nobody wants to look at that hour. */
async function untilCharged({ clock, stripe: { apiKey, config } }: BothProviders): Promise<void> {
  const stripe = new Stripe(apiKey, config)
  const { data } = await stripe.invoices.list({ status: 'draft', limit: 100 })
  const due = data.map(({ automatically_finalizes_at }) => (automatically_finalizes_at ?? 0) * 1000)
  const soon = due.filter((at) => at > clock.nowMs() && at <= clock.nowMs() + 2 * HOUR)
  if (soon.length > 0) await clock.advanceTo(new Date(Math.max(...soon)))
}

export async function settle(
  { billing, statistics }: Pick<ServiceContext, 'billing' | 'statistics'>,
  sandbox: BothProviders,
): Promise<void> {
  await sandbox.outbox.flush()
  await billing.webhooks.process()
  await statistics.sample()
}
