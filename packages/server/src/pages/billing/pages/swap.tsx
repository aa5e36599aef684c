import { formatMoney, type ProviderName, type SwapPreview } from '@tollgate/billing'
import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { Plan, Settings } from '../../../config/settings.ts'
import type { AppEnv, PageContext } from '../../../http/variables.ts'
import { CsrfField } from '../../parts/layout.tsx'
import { renderPage } from '../../parts/render.tsx'
import { type Account, readAccount, requireRunning } from '../model/account.ts'
import { formatDay } from '../model/dates.ts'
import { findPlan, planOf, quantityOn, swapTarget } from '../model/plans.ts'
import { BadChoice } from '../model/problems.ts'
import { parseProrationDate } from '../model/proration-date.ts'
import { BillingFrame } from '../sections/frame.tsx'
import { Price } from '../sections/price.tsx'
import { addForm, type FormRequest } from './add-form.ts'
import { addPage } from './add-page.ts'

/** What another plan would cost, before anything is changed; and the change itself. */
export function addSwapPage(app: Hono<AppEnv>): void {
  addForm(app, '/billing/swap', swap)
  addPage(app, '/billing/swap', async (c) => {
    const page = c.get('page')
    const { plans } = page.service.config.settings
    const account = await readAccount(c)
    const { running } = account
    const plan = findPlan(plans, c.req.query('plan'))
    const isThere = running?.providerPlan === plan?.[account.provider] && !running?.cancelled()
    if (!running || running.incomplete() || !plan || isThere) return c.redirect('/billing', 303)
    const preview = await running.previewSwap(swapTarget(plan, running))
    const hasChanged = c.req.query('changed') === 'yes'
    return renderPage(
      c,
      { title: 'Change the plan' },
      <BillingFrame>
        <SwapCard {...{ page, account, plan, preview, hasChanged }} />
      </BillingFrame>,
    )
  })
}

async function swap({ service, account, form }: FormRequest) {
  const running = requireRunning(account)
  const plan = findPlan(service.config.settings.plans, form.get('plan'))
  if (!plan) throw new BadChoice('Please choose a plan.')
  if (running.providerPlan === plan[running.provider] && !running.cancelled())
    return 'swapped' as const
  // What is done is what was seen and approved, to the cent; else it is shown again. So is one that was cancelled meanwhile,
  // such as in another tab: nobody has approved that this is taken back.
  const wanted = swapTarget(plan, running)
  const prorationDate = parseProrationDate(form.get('proration_date'), account.now)
  const preview = prorationDate && (await running.previewSwap(wanted, { prorationDate }))
  const isAsSeen =
    preview?.total.amount === Number(form.get('total')) &&
    String(quantityOn(plan, running)) === form.get('quantity') &&
    preview.immediately === (form.get('immediately') === 'yes') &&
    running.cancelled() === (form.get('resumes') === 'yes')
  if (!preview || !isAsSeen) {
    return { goTo: `/billing/swap?plan=${encodeURIComponent(plan.id)}&changed=yes` }
  }
  await running.swap(wanted, { prorationDate: preview.prorationDate })
  return 'swapped' as const
}

interface SwapView {
  readonly page: PageContext
  readonly account: Account
  readonly plan: Plan
  readonly preview: SwapPreview
  /** It is not what was approved. */
  readonly hasChanged: boolean
}

const SwapCard: FC<SwapView> = (view) => {
  const { page, account, plan, preview, hasChanged } = view
  const { settings } = page.service.config
  const { running } = account
  const old = running ? planOf(settings.plans, running) : null
  const before = running?.quantity ?? 1
  const quantity = running ? quantityOn(plan, running) : 1
  return (
    <section class="card narrow">
      <h1>
        Change to <bdi>{plan.name}</bdi>?
      </h1>
      {hasChanged && (
        <p class="problem" role="alert">
          It has changed since you saw it. Nothing was done; please look at it again.
        </p>
      )}
      <dl class="terms">
        <dt>Now</dt>
        <dd>{old ? <Terms plan={old} quantity={before} settings={settings} /> : 'Another plan'}</dd>
        <dt>Then</dt>
        <dd>
          <Terms plan={plan} quantity={quantity} settings={settings} />
        </dd>
      </dl>
      {quantity < before && (
        <p>
          <bdi>{plan.name}</bdi> has no seats: you have {before} now, and pay for it once.
        </p>
      )}
      <PreviewTable {...view} />
      {running?.cancelled() && <p>This also takes your cancellation back.</p>}
      <form method="post" action="/billing/swap" data-once>
        <CsrfField page={page} />
        <input type="hidden" name="plan" value={plan.id} />
        <input type="hidden" name="quantity" value={quantity} />
        <input type="hidden" name="proration_date" value={preview.prorationDate.getTime()} />
        <input type="hidden" name="total" value={preview.total.amount} />
        <input type="hidden" name="immediately" value={preview.immediately ? 'yes' : 'no'} />
        <input type="hidden" name="resumes" value={running?.cancelled() ? 'yes' : 'no'} />
        <div class="row">
          <button class="primary" type="submit">
            {preview.immediately && preview.total.amount > 0
              ? `Change and pay ${formatMoney(preview.total)}`
              : 'Change the plan'}
          </button>
          <a href="/billing">Keep the plan</a>
        </div>
      </form>
    </section>
  )
}

/** However its name is written, the price stands behind it. */
const Terms: FC<{ plan: Plan; quantity: number; settings: Settings }> = (props) => (
  <>
    <bdi>{props.plan.name}</bdi>, <Price {...props} />
  </>
)

/** Braintree's lines name plans by their ids: `monthly → pro`. */
function nameLine(description: string, plans: readonly Plan[], provider: ProviderName): string {
  const names = new Map(plans.map((plan) => [plan[provider], plan.name]))
  return description
    .split(' → ')
    .map((part) => names.get(part) ?? part)
    .join(' → ')
}

const PreviewTable: FC<SwapView> = ({ page, account, preview }) => {
  const { plans } = page.service.config.settings
  const { immediately, total, lines, date, includedTax } = preview
  const due = `${immediately ? 'Today' : 'Next invoice'}, ${formatDay(date)}`
  return (
    <table class="amounts sum">
      <caption>{immediately ? 'You pay now' : 'You pay nothing now'}</caption>
      <tbody>
        {lines.map(({ description, amount }) => (
          <tr>
            <th scope="row">
              <bdi>{nameLine(description, plans, account.provider)}</bdi>
            </th>
            <td>{formatMoney(amount)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{due}</th>
          <td>{formatMoney(total)}</td>
        </tr>
        {includedTax.amount > 0 && (
          <tr>
            <th scope="row">Tax in it</th>
            <td>{formatMoney(includedTax)}</td>
          </tr>
        )}
      </tfoot>
    </table>
  )
}
