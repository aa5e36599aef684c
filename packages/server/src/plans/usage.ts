import type { Subscription } from '@tollgate/billing'
import { findPlanOfSubscription, listMeterPrices } from '../config/plan-capabilities.ts'
import type { Plan } from '../config/plans.ts'

/** The usage of a meter in the current billing period of a subscription. */
export interface PlanUsage {
  /** Name of the meter. */
  readonly meter: string
  /** Name of the price that charges for the usage. */
  readonly name: string
  /** Quantity of usage as decimal text. */
  readonly value: string
  /** Start of the billing period. */
  readonly from: Date
}

/**
 * Reads the usage of the meters that the plan of a subscription has, as far as it was counted. Asks
 * the provider, unless billing itself counts the usage.
 */
export async function readPlanUsage(
  subscription: Subscription,
  plans: readonly Plan[],
): Promise<PlanUsage[]> {
  const plan = findPlanOfSubscription(plans, subscription)
  if (!plan) return []
  const read = listMeterPrices(plan).map(async ({ meter, name }) => {
    const [sum] = await subscription.usage({ meter })
    return sum ? [{ meter, name, value: sum.value, from: sum.from }] : []
  })
  return (await Promise.all(read)).flat()
}
