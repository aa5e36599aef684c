import type { ProviderName, SwapPreview } from '@tollgate/billing'
import type { Context } from 'hono'
import type { FC } from 'hono/jsx'
import type { Plan } from '../../../config/settings.ts'
import { formatDay } from '../../../dates.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { formatAmount } from '../../../messages/messages.ts'
import { Submit } from '../../parts/fields.tsx'
import { BillingFrame, OwnForm, usePage } from '../../parts/layout.tsx'
import { renderPage } from '../../parts/render.tsx'
import { type Account, orNull, readAccount, requireRunning } from '../model/account.ts'
import { findPlan, parseProrationDate, planOf, quantityOn, swapTarget } from '../model/plans.ts'
import { BadChoice } from '../model/problems.ts'
import { Price } from '../sections/price.tsx'
import type { FormRequest } from './add-form.ts'
import { canPlanChange, PlanChange } from './plan-change.tsx'

/** Shows the cost of a change to another plan, before anything is changed. */
export async function showSwap(c: Context<AppEnv>): Promise<Response> {
  const { plans } = c.get('page').service.config.settings
  const account = await readAccount(c)
  const { running } = account
  const plan = findPlan(plans, c.req.query('plan'))
  const isThere = running?.providerPlan === plan?.[account.provider] && !running?.cancelled()
  if (!running || running.incomplete() || !plan || isThere) return c.redirect('/billing', 303)
  const preview = await running.previewSwap(swapTarget(plan, running))
  const hasChanged = c.req.query('changed') === 'yes'
  const laterAt = canPlanChange(running) ? await orNull(running.periodEndsAt()) : null
  return renderPage(
    c,
    { title: c.get('page').t('swap.title') },
    <BillingFrame>
      <SwapCard {...{ account, plan, preview, hasChanged, laterAt }} />
    </BillingFrame>,
  )
}

export async function swap({ service, account, form }: FormRequest) {
  const running = requireRunning(account)
  const plan = findPlan(service.config.settings.plans, form.get('plan'))
  if (!plan) throw new BadChoice('problem.choosePlan')
  if (running.providerPlan === plan[running.provider] && !running.cancelled())
    return 'swapped' as const
  // Swap only if the preview still shows exactly what the person approved, to the cent; else show
  // it again. This includes a subscription that was cancelled meanwhile, such as in another tab:
  // the person has not approved resuming it.
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
  readonly account: Account
  readonly plan: Plan
  readonly preview: SwapPreview
  /** Whether the preview changed since the person approved it. */
  readonly hasChanged: boolean
  /** When the period ends, after which a planned change would begin. `null` if it is unknown. */
  readonly laterAt: Date | null
}

const SwapCard: FC<SwapView> = (view) => {
  const { account, plan, preview, hasChanged, laterAt } = view
  const { service, t } = usePage()
  const { settings } = service.config
  const name = <bdi>{plan.name}</bdi>
  const { running } = account
  const old = running ? planOf(settings.plans, running) : null
  const before = running?.quantity ?? 1
  const quantity = running ? quantityOn(plan, running) : 1
  return (
    <section class="card narrow stack">
      <h1>{t.parts('swap.question', { plan: name })}</h1>
      {hasChanged && (
        <p class="problem" role="alert">
          {t('swap.changed')}
        </p>
      )}
      <dl class="terms">
        <dt>{t('swap.now')}</dt>
        <dd>{old ? <Terms plan={old} quantity={before} /> : t('swap.another')}</dd>
        <dt>{t('swap.then')}</dt>
        <dd>
          <Terms plan={plan} quantity={quantity} />
        </dd>
      </dl>
      {quantity < before && <p>{t.parts('swap.noSeats', { plan: name, before })}</p>}
      <PreviewTable {...view} />
      {running?.cancelled() && <p>{t('swap.resumes')}</p>}
      <OwnForm action="/billing/swap" data-once>
        <input type="hidden" name="plan" value={plan.id} />
        <input type="hidden" name="quantity" value={quantity} />
        <input type="hidden" name="proration_date" value={preview.prorationDate.getTime()} />
        <input type="hidden" name="total" value={preview.total.amount} />
        <input type="hidden" name="immediately" value={preview.immediately ? 'yes' : 'no'} />
        <input type="hidden" name="resumes" value={running?.cancelled() ? 'yes' : 'no'} />
        <div class="row">
          <Submit class="primary">
            {preview.immediately && preview.total.amount > 0
              ? t('swap.pay', { amount: formatAmount(preview.total, t) })
              : t('swap.title')}
          </Submit>
          <a href="/billing">{t('swap.keep')}</a>
        </div>
      </OwnForm>
      {running && canPlanChange(running) && (
        <PlanChange {...{ plan, subscription: running, at: laterAt }} />
      )}
    </section>
  )
}

/**
 * The plan's name and price. The text isolates the name, so that the price follows it in any
 * script.
 */
const Terms: FC<{ plan: Plan; quantity: number }> = (props) => (
  <>
    {usePage().t.parts('swap.terms', {
      plan: <bdi>{props.plan.name}</bdi>,
      price: <Price {...props} />,
    })}
  </>
)

/** Replaces plan ids in a line of Braintree, such as `monthly → pro`, by their names. */
function nameLine(description: string, plans: readonly Plan[], provider: ProviderName): string {
  const names = new Map(plans.map((plan) => [plan[provider], plan.name]))
  return description
    .split(' → ')
    .map((part) => names.get(part) ?? part)
    .join(' → ')
}

const PreviewTable: FC<SwapView> = ({ account, preview }) => {
  const { service, t } = usePage()
  const { plans } = service.config.settings
  const { immediately, total, lines, date, includedTax } = preview
  const due = t(immediately ? 'swap.today' : 'swap.nextInvoice', {
    date: formatDay(date, t.locale),
  })
  return (
    <table class="amounts sum">
      <caption>{t(immediately ? 'swap.payNow' : 'swap.payNothing')}</caption>
      <tbody>
        {lines.map(({ description, amount }) => (
          <tr>
            <th scope="row">
              <bdi>{nameLine(description, plans, account.provider)}</bdi>
            </th>
            <td>{formatAmount(amount, t)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{due}</th>
          <td>{formatAmount(total, t)}</td>
        </tr>
        {includedTax.amount > 0 && (
          <tr>
            <th scope="row">{t('swap.tax')}</th>
            <td>{formatAmount(includedTax, t)}</td>
          </tr>
        )}
      </tfoot>
    </table>
  )
}
