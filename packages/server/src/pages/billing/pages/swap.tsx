import type { SwapPreview } from '@tollgate/billing'
import type { Context } from 'hono'
import type { FC } from 'hono/jsx'
import { findPlanOfSubscription } from '../../../config/plan-capabilities.ts'
import type { Plan } from '../../../config/settings.ts'
import { formatDay } from '../../../dates.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { formatAmount } from '../../../messages/messages.ts'
import { Submit } from '../../parts/fields.tsx'
import { BillingForm, BillingFrame, usePage } from '../../parts/layout.tsx'
import { renderPage } from '../../parts/render.tsx'
import {
  type BillingAccount,
  nullIfUnavailable,
  readAccount,
  requireRunning,
} from '../model/account.ts'
import {
  createSwapTarget,
  describePlanChange,
  findPlan,
  parseProrationDate,
} from '../model/plans.ts'
import { InvoicePreview } from '../sections/invoice-preview.tsx'
import { Price } from '../sections/price.tsx'
import type { FormRequest } from './add-form.ts'
import { canPlanChange, PlannedChangeForm } from './plan-change.tsx'

/** Shows the cost of a change to another plan, before anything is changed. */
export async function showSwap(c: Context<AppEnv>): Promise<Response> {
  const { plans } = c.get('page').service.config.settings
  const account = await readAccount(c)
  const { running } = account
  const plan = findPlan(plans, c.req.query('plan'))
  const isThere = running?.providerPlan === plan?.[account.provider] && !running?.cancelled()
  if (!running || running.incomplete() || !plan || isThere) return c.redirect(account.path, 303)
  const change = describePlanChange(plan.id, running, { plans, ...account })
  const preview = await running.previewSwap(createSwapTarget(change))
  const hasChanged = c.req.query('changed') === 'yes'
  const laterAt = canPlanChange(running) ? await nullIfUnavailable(running.periodEndsAt()) : null
  return renderPage(
    c,
    { title: c.get('page').t('swap.title') },
    <BillingFrame>
      <SwapCard {...{ account, plan, preview, hasChanged, laterAt }} quantity={change.quantity} />
    </BillingFrame>,
  )
}

export async function swap({ service, account, form }: FormRequest) {
  const running = requireRunning(account)
  const { plans } = service.config.settings
  const change = describePlanChange(form.get('plan'), running, { plans, ...account })
  const { plan, price, quantity } = change
  if (running.providerPlan === price && !running.cancelled()) return 'swapped' as const
  // Swap only if the preview still shows exactly what the person approved, to the cent; else show
  // it again. This includes a subscription that was cancelled meanwhile, such as in another tab:
  // the person has not approved resuming it.
  const wanted = createSwapTarget(change)
  const prorationDate = parseProrationDate(form.get('proration_date'), account.now)
  const preview = prorationDate && (await running.previewSwap(wanted, { prorationDate }))
  const isAsSeen =
    preview?.total.amount === Number(form.get('total')) &&
    String(quantity) === form.get('quantity') &&
    preview.immediately === (form.get('immediately') === 'yes') &&
    running.cancelled() === (form.get('resumes') === 'yes')
  if (!preview || !isAsSeen) {
    return { goTo: `${account.path}/swap?plan=${encodeURIComponent(plan.id)}&changed=yes` }
  }
  await running.swap(wanted, { prorationDate: preview.prorationDate })
  return 'swapped' as const
}

interface SwapView {
  readonly account: BillingAccount
  readonly plan: Plan
  /** The quantity after the change. */
  readonly quantity: number
  readonly preview: SwapPreview
  /** Whether the preview changed since the person approved it. */
  readonly hasChanged: boolean
  /** When the period ends, after which a planned change would begin. `null` if it is unknown. */
  readonly laterAt: Date | null
}

const SwapCard: FC<SwapView> = (view) => {
  const { account, plan, preview, quantity, hasChanged, laterAt } = view
  const { service, t } = usePage()
  const { settings } = service.config
  const name = <bdi>{plan.name}</bdi>
  const { running } = account
  const old = running ? findPlanOfSubscription(settings.plans, running) : null
  const before = running?.quantity ?? 1
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
      {quantity !== before && <QuantityChange {...{ plan, quantity, before }} />}
      <PreviewTable {...view} />
      {preview.immediately && plan.rates === null && (
        <p>{t.parts('swap.later', { price: <Price plan={plan} quantity={quantity} /> })}</p>
      )}
      {running?.cancelled() && <p>{t('swap.resumes')}</p>}
      <BillingForm action="/swap" data-once>
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
          <a href={account.path}>{t('swap.keep')}</a>
        </div>
      </BillingForm>
      {running && canPlanChange(running) && (
        <PlannedChangeForm {...{ plan, quantity, at: laterAt }} />
      )}
    </section>
  )
}

/** Says why the quantity changes with the plan. */
const QuantityChange: FC<{ plan: Plan; quantity: number; before: number }> = (props) => {
  const { plan, ...values } = props
  const name = <bdi>{plan.name}</bdi>
  return (
    <p>
      {values.quantity === 1 && plan.seats.max === 1
        ? usePage().t.parts('swap.noSeats', { plan: name, before: values.before })
        : usePage().t.parts('swap.seats', { plan: name, ...values })}
    </p>
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

const PreviewTable: FC<SwapView> = ({ account, preview }) => {
  const { t } = usePage()
  const { immediately, date } = preview
  return (
    <InvoicePreview
      invoice={preview}
      caption={t(immediately ? 'swap.payNow' : 'swap.payNothing')}
      due={t(immediately ? 'swap.today' : 'swap.nextInvoice', { date: formatDay(date, t.locale) })}
      provider={account.provider}
    />
  )
}
