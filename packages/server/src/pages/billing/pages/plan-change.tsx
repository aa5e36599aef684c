import type { Subscription } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { Plan } from '../../../config/settings.ts'
import { formatDay } from '../../../dates.ts'
import { Submit } from '../../parts/fields.tsx'
import { OwnForm, usePage } from '../../parts/layout.tsx'
import { requireRunning } from '../model/account.ts'
import { findPlan, quantityOn, swapTarget } from '../model/plans.ts'
import { BadChoice } from '../model/problems.ts'
import type { FormRequest } from './add-form.ts'

/** Whether a change of plan can be planned for the end of the period. */
export function canPlanChange(subscription: Subscription): boolean {
  return subscription.can('schedules') && !subscription.incomplete() && !subscription.cancelled()
}

/** Plans a change for the end of the period. Nothing is charged until then. */
export async function planChange({ service, account, form }: FormRequest) {
  const running = requireRunning(account)
  const plan = findPlan(service.config.settings.plans, form.get('plan'))
  if (!plan) throw new BadChoice('problem.choosePlan')
  // The person approved the quantity, which may have changed in another tab.
  if (String(quantityOn(plan, running)) !== form.get('quantity') || running.cancelled()) {
    return { goTo: `/billing/swap?plan=${encodeURIComponent(plan.id)}&changed=yes` }
  }
  await running.swapAtPeriodEnd(swapTarget(plan, running))
  return 'change-planned' as const
}

/** The form that plans a change, below the form that changes the plan now. */
export const PlanChange: FC<{ plan: Plan; subscription: Subscription; at: Date | null }> = ({
  plan,
  subscription,
  at,
}) => {
  const { t } = usePage()
  const date = at && formatDay(at, t.locale)
  return (
    <OwnForm action="/billing/plan-change" class="stack" data-once>
      <h2>{t('planChange.title')}</h2>
      <p>{t('planChange.text')}</p>
      <input type="hidden" name="plan" value={plan.id} />
      <input type="hidden" name="quantity" value={quantityOn(plan, subscription)} />
      <Submit>{date ? t('planChange.on', { date }) : t('planChange.go')}</Submit>
    </OwnForm>
  )
}
