import type { BillableUser, ProviderName, SubscriptionBuilder } from '@tollgate/billing'
import type { Plan } from '../../../config/settings.ts'
import { SUBSCRIPTION } from '../model/account.ts'
import { findPlan, trialDaysFor } from '../model/plans.ts'
import { BadChoice } from '../model/problems.ts'
import { hasPromotionCodes } from '../model/providers.ts'
import type { FormRequest } from './add-form.ts'

const LONGEST_CODE = 64

/** What somebody wants to subscribe to. */
export interface ChosenPlan {
  readonly plan: Plan
  readonly trialDays: number
  /** As it was typed; null for none. */
  readonly code: string | null
}

export function readPlan({ service, account, form }: FormRequest): ChosenPlan {
  const plan = findPlan(service.config.settings.plans, form.get('plan'))
  if (!plan) throw new BadChoice('Please choose a plan.')
  // A form that is sent twice asks for the trial that has just begun, and not for none.
  const before = account.history.filter((each) => each !== account.running || !each.onTrial())
  const trialDays = trialDaysFor(plan, before)
  return { plan, trialDays, code: readCode(form) }
}

export function readCode(form: URLSearchParams): string | null {
  const code = (form.get('coupon') ?? '').trim()
  if (code.length > LONGEST_CODE) throw new BadChoice('This is no code.')
  return code === '' ? null : code
}

/** The subscription that was chosen, with what is taken off. Ids of coupons are not for typing where there are codes. */
export function beginSubscription(
  payer: BillableUser,
  provider: ProviderName,
  { plan, trialDays, code }: ChosenPlan,
): SubscriptionBuilder {
  const builder = payer.newSubscription(SUBSCRIPTION, plan[provider]).trialDays(trialDays)
  if (code === null) return builder
  return hasPromotionCodes(provider) ? builder.withPromotionCode(code) : builder.withCoupon(code)
}
