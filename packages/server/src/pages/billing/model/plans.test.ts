import { describe, expect, it } from 'vitest'
import { parseSettings } from '../../../config/settings.ts'
import {
  findPlan,
  formatInterval,
  formatTotal,
  planOf,
  quantityChoice,
  quantityOn,
  trialDaysFor,
} from './plans.ts'

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
  it("are found by their id, and by the provider's id of a subscription", () => {
    expect(findPlan(settings.plans, 'q')).toBe(quarterly)
    expect(findPlan(settings.plans, '__proto__')).toBeNull()
    expect(planOf(settings.plans, { provider: 'stripe', providerPlan: 'price_1' })).toBe(monthly)
    expect(planOf(settings.plans, { provider: 'braintree', providerPlan: 'm' })).toBe(monthly)
    expect(planOf(settings.plans, { provider: 'braintree', providerPlan: 'old' })).toBeNull()
  })

  it('are shown with price and billing interval', () => {
    expect(
      settings.plans.map((plan) => `${formatTotal(plan, 1, settings)} ${formatInterval(plan)}`),
    ).toEqual(['€9.99 per month', '€25.00 every 3 months', '€99.00 per year'])
  })

  it('are shown with the total for a quantity', () => {
    expect(formatTotal(quarterly, 3, settings)).toBe('€75.00')
  })

  const seats = { seats: true } as never
  const whole = { seats: false } as never
  it.each([
    ['a plan with seats at Stripe', seats, 'stripe', 1, 1, 'any'],
    ['several seats at Stripe', seats, 'stripe', 3, 3, 'any'],
    ['a plan without seats', whole, 'stripe', 1, 1, 'none'],
    ['several of a plan without seats', whole, 'stripe', 3, 1, 'one'],
    ['a plan with seats at Braintree, which has no quantities', seats, 'braintree', 1, 1, 'none'],
    ['a plan without seats at Braintree', whole, 'braintree', 1, 1, 'none'],
  ] as const)(
    'limit the quantity after a change of plan and the choices on the page: %s',
    (...row) => {
      const [, plan, provider, quantity, after, choice] = row
      expect(quantityOn(plan, { provider, quantity })).toBe(after)
      expect(quantityChoice(plan, { provider, quantity })).toBe(choice)
    },
  )

  it('allow a choice of quantity if the plan is no longer offered and the quantity is above one, because the plan may have had seats', () => {
    expect(quantityChoice(null, { provider: 'stripe', quantity: 3 })).toBe('any')
    expect(quantityChoice(null, { provider: 'stripe', quantity: 1 })).toBe('none')
  })

  it('give a trial only to people who never had one', () => {
    expect(trialDaysFor(monthly, [])).toBe(7)
    expect(trialDaysFor(monthly, [{ trialEndsAt: null }])).toBe(7)
    expect(trialDaysFor(monthly, [{ trialEndsAt: null }, { trialEndsAt: new Date(0) }])).toBe(0)
    expect(trialDaysFor(yearly, [])).toBe(0)
  })
})
