import { describe, expect, it } from 'vitest'
import { parseSettings } from '../../../config/settings.ts'
import { findPlan, formatPrice, formatRhythm, planOf, trialDaysFor } from './plans.ts'

const settings = parseSettings({
  currency: 'eur',
  plans: [
    { id: 'm', name: 'Monthly', amount: 999, months: 1, trialDays: 7, stripe: 'price_1' },
    { id: 'q', name: 'Quarterly', amount: 2500, months: 3 },
    { id: 'y', name: 'Yearly', amount: 9900, months: 12 },
  ],
})
const [monthly, quarterly, yearly] = settings.plans as [never, never, never]

describe('plans', () => {
  it('are found by their id, and by the id at the provider of a subscription', () => {
    expect(findPlan(settings.plans, 'q')).toBe(quarterly)
    expect(findPlan(settings.plans, '__proto__')).toBeNull()
    expect(planOf(settings.plans, { provider: 'stripe', providerPlan: 'price_1' })).toBe(monthly)
    expect(planOf(settings.plans, { provider: 'braintree', providerPlan: 'm' })).toBe(monthly)
    expect(planOf(settings.plans, { provider: 'braintree', providerPlan: 'old' })).toBeNull()
  })

  it('say their price and rhythm', () => {
    expect(
      settings.plans.map((plan) => `${formatPrice(plan, settings)} ${formatRhythm(plan)}`),
    ).toEqual(['€9.99 per month', '€25.00 every 3 months', '€99.00 per year'])
  })

  it('give a trial to those who never had one', () => {
    expect(trialDaysFor(monthly, [])).toBe(7)
    expect(trialDaysFor(monthly, [{ trialEndsAt: null }])).toBe(7)
    expect(trialDaysFor(monthly, [{ trialEndsAt: null }, { trialEndsAt: new Date(0) }])).toBe(0)
    expect(trialDaysFor(yearly, [])).toBe(0)
  })
})
