import { describe, expect, it } from 'vitest'
import { findPlanOfSubscription } from '../../../config/plan-capabilities.ts'
import { parseSettings } from '../../../config/settings.ts'
import { countSeats } from '../../../plans/seats.ts'
import {
  computeQuantityOnPlan,
  computeTrialDays,
  findPlan,
  formatInterval,
  formatTotal,
  getQuantityChoice,
  listPlansAtProvider,
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

describe('the plans on the billing page', () => {
  it('are found by their id, and by the price id of a subscription', () => {
    expect(findPlan(settings.plans, 'q')).toBe(quarterly)
    expect(findPlan(settings.plans, '__proto__')).toBeNull()
    expect(
      findPlanOfSubscription(settings.plans, { provider: 'stripe', providerPlan: 'price_1' }),
    ).toBe(monthly)
    expect(
      findPlanOfSubscription(settings.plans, { provider: 'braintree', providerPlan: 'm' }),
    ).toBe(monthly)
    expect(
      findPlanOfSubscription(settings.plans, { provider: 'braintree', providerPlan: 'old' }),
    ).toBeNull()
  })

  it('are shown with price and billing interval', () => {
    expect(
      settings.plans.map((plan) => `${formatTotal(plan, 1, settings)} ${formatInterval(plan)}`),
    ).toEqual(['€9.99 per month', '€25.00 every 3 months', '€99.00 per year'])
  })

  it('are shown with the total price for a quantity', () => {
    expect(formatTotal(quarterly, 3, settings)).toBe('€75.00')
  })

  const { plans } = parseSettings({
    plans: [
      { id: 'seats', name: 'Seats', amount: 500, months: 1, seats: true },
      { id: 'whole', name: 'Whole', amount: 500, months: 1 },
      { id: 'team', name: 'Team', amount: 500, months: 1, seats: { min: 3, max: 20 } },
      { id: 'five', name: 'Five', amount: 500, months: 1, seats: 5 },
      { id: 'members', name: 'Members', amount: 500, months: 1, seats: () => 7 },
      { id: 'calls', name: 'Calls', unitAmount: '0.5', meter: 'calls', months: 1 },
    ],
  })
  const counted = new Map([['members', 7]])
  const any = { min: 1, max: 10_000 }
  it.each([
    ['a plan with seats at Stripe', 'seats', 'stripe', 1, 1, any],
    ['several seats at Stripe', 'seats', 'stripe', 3, 3, any],
    ['a plan without seats', 'whole', 'stripe', 1, 1, null],
    ['several of a plan without seats', 'whole', 'stripe', 3, 1, { min: 1, max: 1 }],
    ['fewer seats than the plan has', 'team', 'stripe', 1, 3, { min: 3, max: 20 }],
    ['more seats than the plan has', 'team', 'stripe', 30, 20, { min: 3, max: 20 }],
    ['a fixed number of seats', 'five', 'stripe', 5, 5, null],
    ['another number than the fixed one', 'five', 'stripe', 2, 5, { min: 5, max: 5 }],
    ['as many seats as were counted', 'members', 'stripe', 7, 7, null],
    ['fewer seats than were counted', 'members', 'stripe', 2, 7, { min: 7, max: 7 }],
    ['a plan that is charged by usage', 'calls', 'stripe', 1, 1, null],
    ['a plan with seats at Braintree, which has no quantities', 'seats', 'braintree', 1, 1, null],
    ['a plan without seats at Braintree', 'whole', 'braintree', 1, 1, null],
  ] as const)('limit the quantity: %s', (...row) => {
    const [, id, provider, quantity, after, choice] = row
    const plan = findPlan(plans, id)
    if (!plan) throw new Error(`There is no plan ${id}`)
    expect(computeQuantityOnPlan(plan, { provider, quantity }, counted)).toBe(after)
    const found = getQuantityChoice(plan, { provider, quantity }, counted)
    expect(found && { min: found.min, max: found.max }).toEqual(choice)
  })

  it('offer a choice of quantity for a plan that is no longer offered if the quantity is above one, because the plan may have had seats', () => {
    expect(getQuantityChoice(null, { provider: 'stripe', quantity: 3 })).toEqual(any)
    expect(getQuantityChoice(null, { provider: 'stripe', quantity: 1 })).toBeNull()
  })

  it('have their seats counted by the function in the settings, which must return a whole number', async () => {
    expect(await countSeats(plans, {} as never)).toEqual(counted)
    const wrong = parseSettings({
      plans: [{ id: 'm', name: 'M', amount: 1, months: 1, seats: () => 0 }],
    })
    await expect(countSeats(wrong.plans, {} as never)).rejects.toThrow(
      "the function `seats` of 'm' returned 0; expected a whole number from 1 to 10000",
    )
  })

  it("are hidden if the person's provider cannot sell them", () => {
    expect(listPlansAtProvider(plans, 'braintree').map(({ id }) => id)).toEqual(['seats', 'whole'])
    expect(listPlansAtProvider(plans, 'stripe')).toHaveLength(plans.length)
  })

  it('offer a trial only to people who never had one', () => {
    expect(computeTrialDays(monthly, [])).toBe(7)
    expect(computeTrialDays(monthly, [{ trialEndsAt: null }])).toBe(7)
    expect(computeTrialDays(monthly, [{ trialEndsAt: null }, { trialEndsAt: new Date(0) }])).toBe(0)
    expect(computeTrialDays(yearly, [])).toBe(0)
  })
})
