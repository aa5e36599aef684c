import type braintree from 'braintree'
import { UnknownPlan } from '../../../errors.ts'
import { fromDecimal } from '../../../values/money.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { isNotFound } from '../sdk/errors.ts'
import type { Modification } from './plan-credit.ts'

export interface Plan {
  readonly id: string
  /** In months. */
  readonly frequency: number
  readonly price: number
  readonly currency: string
  /** The day of the month that all of it is billed on; null for the day it begins. */
  readonly billingDay: number | null
  /** How many periods there are; null for one that goes on. */
  readonly cycles: number | null
  /** What every new subscription of the plan gets by itself. */
  readonly addOns: readonly Modification[]
  readonly discounts: readonly Modification[]
}

export async function requirePlan({ gateway }: BraintreeContext, id: string): Promise<Plan> {
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
    throw new UnknownPlan(`Braintree has no plan '${id}'`, {
      provider: 'braintree',
      providerCode: '91904',
    })
  }
}
