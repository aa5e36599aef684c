import type braintree from 'braintree'
import { UnknownPrice } from '../../core/errors/errors.ts'
import { fromDecimal } from '../../core/values/money.ts'
import type { BraintreeContext } from './client.ts'
import { isNotFound } from './errors.ts'
import type { AddOnOrDiscount } from './plan-credit.ts'

export interface PlanWithAddOns {
  readonly id: string
  /** Billing interval in months. */
  readonly frequency: number
  readonly price: number
  readonly currency: string
  /**
   * The day of the month on which all subscriptions are billed. `null` to bill on the day on which
   * each one started.
   */
  readonly billingDay: number | null
  /** Number of billing cycles. `null` if subscriptions of the plan do not end. */
  readonly cycles: number | null
  /** Add-ons that every new subscription of the plan includes. */
  readonly addOns: readonly AddOnOrDiscount[]
  readonly discounts: readonly AddOnOrDiscount[]
}

export async function requirePlan(
  { gateway }: BraintreeContext,
  id: string,
): Promise<PlanWithAddOns> {
  const plan = await find(gateway, id)
  const currency = plan.currencyIsoCode.toLowerCase()
  return {
    id: plan.id,
    frequency: Number(plan.billingFrequency),
    price: fromDecimal(plan.price ?? '0', currency).amount,
    currency,
    billingDay: plan.billingDayOfMonth ?? null,
    cycles: plan.numberOfBillingCycles ?? null,
    addOns: plan.addOns ?? [],
    discounts: plan.discounts ?? [],
  }
}

async function find(gateway: braintree.BraintreeGateway, id: string): Promise<braintree.Plan> {
  try {
    return await gateway.plan.find(id)
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw new UnknownPrice(`Braintree has no plan '${id}'`, {
      provider: 'braintree',
      providerCode: '91904',
    })
  }
}
