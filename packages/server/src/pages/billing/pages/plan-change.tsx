import type { Subscription } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { Plan } from '../../../config/settings.ts'
import { formatDay } from '../../../dates.ts'
import { Submit } from '../../parts/fields.tsx'
import { BillingForm, usePage } from '../../parts/layout.tsx'
import { requireRunning } from '../model/account.ts'
import { createSwapTarget, describePlanChange } from '../model/plans.ts'
import type { FormRequest } from './add-form.ts'

/** Whether a change of plan can be planned for the end of the period. */
export function canPlanChange(subscription: Subscription): boolean {
  return subscription.can('schedules') && !subscription.incomplete() && !subscription.cancelled()
}

/** Plans a change for the end of the period. Nothing is charged until then. */
export async function planChange({ service, account, form }: FormRequest) {
  const running = requireRunning(account)
  const { plans } = service.config.settings
  const change = describePlanChange(form.get('plan'), running, { plans, ...account })
  // The person approved the quantity, which may have changed in another tab.
  if (String(change.quantity) !== form.get('quantity') || running.cancelled()) {
    return { goTo: `${account.path}/swap?plan=${encodeURIComponent(change.plan.id)}&changed=yes` }
  }
  await running.swapAtPeriodEnd(createSwapTarget(change))
  return 'change-planned' as const
}

/** The form that plans a change, below the form that changes the plan now. */
export const PlannedChangeForm: FC<{ plan: Plan; quantity: number; at: Date | null }> = ({
  plan,
  quantity,
  at,
}) => {
  const { t } = usePage()
  const date = at && formatDay(at, t.locale)
  return (
    <BillingForm action="/plan-change" class="stack" data-once>
      <h2>{t('planChange.title')}</h2>
      <p>{t('planChange.text')}</p>
      <input type="hidden" name="plan" value={plan.id} />
      <input type="hidden" name="quantity" value={quantity} />
      <Submit>{date ? t('planChange.on', { date }) : t('planChange.go')}</Submit>
    </BillingForm>
  )
}
