import type { Plan } from '../../../config/settings.ts'
import { findPlan, trialDaysFor } from '../model/plans.ts'
import { BadChoice } from '../model/problems.ts'
import type { FormRequest } from './add-form.ts'

const LONGEST_COUPON = 64

/** What somebody wants to subscribe to. */
export interface ChosenPlan {
  readonly plan: Plan
  readonly trialDays: number
  readonly coupon: string | null
}

export function readPlan({ service, account, form }: FormRequest): ChosenPlan {
  const plan = findPlan(service.config.settings.plans, form.get('plan'))
  if (!plan) throw new BadChoice('Please choose a plan.')
  const coupon = (form.get('coupon') ?? '').trim()
  if (coupon.length > LONGEST_COUPON) throw new BadChoice('This is no coupon.')
  const trialDays = trialDaysFor(plan, account.history)
  return { plan, trialDays, coupon: coupon === '' ? null : coupon }
}
