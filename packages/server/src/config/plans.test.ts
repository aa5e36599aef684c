import { describe, expect, it } from 'vitest'
import type { ConfigurationError } from '../configuration-error.ts'
import { readEnvironment } from './environment.ts'
import { listAdditionalPrices, meteredPrices } from './plan-capabilities.ts'
import { parseSettings, readSettings } from './settings.ts'

const base = { id: 'pro', name: 'Pro' }
const monthly = { ...base, months: 1 }
const calls = { id: 'calls', name: 'API calls', unit: 'call', meter: 'api_calls' }

const plansOf = (...plans: readonly object[]) => parseSettings({ plans }).plans

describe('a plan in the settings', () => {
  it('has one entry per billing interval', () => {
    const plans = plansOf({
      ...base,
      features: ['Unlimited projects'],
      trialDays: 14,
      promotionCodes: false,
      intervals: [
        { months: 1, amount: 2900, stripe: 'price_m' },
        { months: 12, amount: 29_000, id: 'pro-annual' },
        { months: 3, amount: 8000 },
      ],
      prices: [{ ...calls, unitAmount: '0.5', included: 1000 }],
    })
    expect(plans).toMatchObject([
      { id: 'pro-monthly', plan: 'pro', months: 1, amount: 2900, stripe: 'price_m' },
      { id: 'pro-annual', plan: 'pro', months: 12, amount: 29_000, stripe: 'pro-annual' },
      { id: 'pro-3-months', plan: 'pro', months: 3, amount: 8000, braintree: 'pro-3-months' },
    ])
    for (const plan of plans) {
      expect(plan).toMatchObject({ name: 'Pro', trialDays: 14, promotionCodes: false })
      expect(plan.features).toEqual(['Unlimited projects'])
    }
    expect(plans.map(({ prices }) => prices[0]?.stripe)).toEqual([
      'calls-monthly',
      'calls-yearly',
      'calls-3-months',
    ])
  })

  it('can have prices by quantity and by usage, and different prices for each interval', () => {
    const tiers = [
      { upTo: 10, unitAmount: 500 },
      { upTo: null, unitAmount: 400 },
    ]
    const [plan] = plansOf({
      ...base,
      intervals: [
        {
          months: 1,
          tiers,
          mode: 'volume',
          prices: [{ ...calls, unitAmount: 2, packageSize: 60 }],
        },
      ],
      prices: [{ id: 'support', name: 'Support', amount: 900 }],
    })
    expect(plan?.rates).toEqual({ tiers, mode: 'volume' })
    expect(plan?.prices).toMatchObject([
      { id: 'calls', meter: 'api_calls', unit: 'call', rates: { unitAmount: 2, packageSize: 60 } },
    ])
  })

  it.each([
    [false, 1, 1],
    [true, 1, 10_000],
    [5, 5, 5],
    [{ min: 3 }, 3, 10_000],
    [{ min: 3, max: 20 }, 3, 20],
  ])('accepts the setting seats: %j, which allows quantities from %i to %i', (seats, min, max) => {
    const [plan] = plansOf({ ...monthly, amount: 100, seats })
    expect(plan?.seats).toEqual({ min, max, count: null })
  })

  it('leaves the counting of usage to the provider if it can count, and otherwise to billing', () => {
    const plans = plansOf({
      ...monthly,
      amount: 100,
      prices: [
        { ...calls, unitAmount: '0.5', included: 1000 },
        { id: 'support', name: 'Support', amount: 900 },
      ],
    })
    const [plan] = plans
    if (!plan) throw new Error('There is no plan')
    const idsAt = (provider: 'stripe' | 'braintree') =>
      listAdditionalPrices(plan, provider).map(({ id }) => id)
    expect([idsAt('stripe'), idsAt('braintree')]).toEqual([['calls', 'support'], ['support']])
    expect(meteredPrices(plans, 'braintree')).toEqual({
      api_calls: { description: 'API calls', unitAmount: '0.5', included: 1000 },
    })
  })
})

describe('a mistake in the setting plans', () => {
  const good = { ...monthly, amount: 100 }
  it.each([
    ['no price', monthly, 'plans.0: has no price: add amount'],
    ['no length', { ...base, amount: 1 }, 'plans.0.months: missing: add the length'],
    [
      '13 months',
      { ...good, months: 13 },
      'plans.0.months: expected the length of a billing period',
    ],
    [
      'a fraction',
      { ...good, amount: 9.99 },
      'plans.0.amount: expected a whole number in the small',
    ],
    [
      'two prices',
      { ...good, unitAmount: 1, meter: 'm' },
      'plans.0.unitAmount: remove it or amount',
    ],
    [
      'usage without meter',
      { ...monthly, unitAmount: 1 },
      'plans.0.unitAmount: is charged by usage',
    ],
    [
      'an amount of usage',
      { ...good, meter: 'm' },
      'plans.0.amount: a price with a meter is charged',
    ],
    ['words for an amount', { ...monthly, unitAmount: 'half', meter: 'm' }, 'such as 20 or'],
    ['a mode alone', { ...good, mode: 'volume' }, 'plans.0.mode: remove it, or add tiers'],
    ['another mode', { ...good, mode: 'steps' }, 'plans.0.mode: expected graduated or volume'],
    [
      'free units alone',
      { ...good, included: 5 },
      'plans.0.included: remove it, or add unitAmount',
    ],
    ['a unit alone', { ...good, unit: 'call' }, 'plans.0.unit: remove it, or add the meter'],
    ['no tier', { ...monthly, tiers: [] }, 'plans.0.tiers: expected at least one tier'],
    [
      'tiers with an end',
      { ...monthly, tiers: [{ upTo: 5, unitAmount: 1 }] },
      'plans.0.tiers.0.upTo: the last tier needs upTo: null',
    ],
    [
      'tiers out of order',
      {
        ...monthly,
        tiers: [{ upTo: 5, unitAmount: 1 }, { upTo: 5, flatAmount: 1 }, { upTo: null }],
      },
      'plans.0.tiers.1.upTo: expected a whole number above 5',
    ],
    [
      'a tier without a price',
      { ...monthly, tiers: [{ upTo: null }] },
      'plans.0.tiers.0: has no price: add unitAmount, flatAmount or both',
    ],
    ['no seats', { ...good, seats: 0 }, 'plans.0.seats: expected true, false, a fixed quantity'],
    [
      'fewer than min',
      { ...good, seats: { min: 5, max: 2 } },
      'plans.0.seats.max: expected at least 5',
    ],
    [
      'seats of usage',
      { ...monthly, unitAmount: 1, meter: 'm', seats: true },
      'plans.0.seats: remove it: a plan that is charged by usage has no quantity',
    ],
    [
      'a price beside intervals',
      { ...good, intervals: [{ months: 1, amount: 1 }] },
      'plans.0.amount: write it into each of the `intervals` instead',
    ],
    ['no interval', { ...base, intervals: [] }, 'plans.0.intervals'],
    [
      'an interval without price',
      { ...base, intervals: [{ months: 1 }] },
      'plans.0.intervals.0: has no price',
    ],
    [
      'a misspelt member of an interval',
      { ...base, intervals: [{ months: 1, amuont: 1 }] },
      'plans.0.intervals.0.amuont: there is no such setting. Did you mean amount?',
    ],
    [
      'a misspelt member of a price',
      { ...good, prices: [{ ...calls, unitamount: 1 }] },
      'plans.0.prices.0.unitamount: there is no such setting. Did you mean unitAmount?',
    ],
    [
      'a misspelt member of a tier',
      { ...monthly, tiers: [{ upto: null, unitAmount: 1 }] },
      'plans.0.tiers.0.upto: there is no such setting. Did you mean upTo?',
    ],
    [
      'two additional prices with one id',
      { ...good, prices: [1, 2].map((amount) => ({ id: 'a', name: 'A', amount })) },
      "plans.0.prices.1.id: 'a' is the id of another price",
    ],
    [
      'tiers of an additional price by quantity',
      { ...good, prices: [{ id: 'a', name: 'A', tiers: [{ upTo: null, unitAmount: 1 }] }] },
      'plans.0.prices.0.meter: missing: an additional price with tiers is charged by usage',
    ],
    [
      'one price of a provider for two intervals',
      {
        ...base,
        intervals: [1, 12].map((months) => ({ months, amount: 1 })),
        prices: [{ id: 'a', name: 'A', amount: 1, stripe: 'price_a' }],
      },
      'plans.0.prices.0.stripe: the intervals of the plan cannot share a price',
    ],
  ])('is reported with its fix: %s', (_name, plan, message) => {
    const { problems } = readSettings({ plans: [plan] })
    expect(problems.join('\n')).toContain(message)
  })

  it('is found even if it concerns two plans together, and all mistakes are reported at once', () => {
    const { problems } = readSettings({
      plans: [
        { ...good, stripe: 'price_1' },
        { ...good, amount: -1, stripe: 'price_1', trialdays: 3 },
        { ...base, id: 'team', name: 7, intervals: [{ months: 1, amount: 1, id: 'pro' }] },
      ],
    })
    expect(problems).toEqual([
      expect.stringContaining('plans.1.amount: expected a whole number'),
      'plans.1.trialdays: there is no such setting. Did you mean trialDays?',
      expect.stringContaining('plans.2.name: '),
      "plans.1.id: plans.0.id is 'pro' too: use another id for one of them",
      "plans.2.intervals.0.id: plans.1.id is 'pro' too: use another id for one of them",
      "plans.1.stripe: plans.0.stripe is 'price_1' too: each plan and interval needs its own price",
    ])
  })
})

describe('a configured plan that a provider cannot sell', () => {
  const plans = [
    { ...monthly, amount: 100, seats: { min: 3 } },
    { ...monthly, id: 'api', unitAmount: 1, meter: 'api_calls' },
    { ...monthly, id: 'a', amount: 1, prices: [{ ...calls, unitAmount: 1 }] },
    { ...monthly, id: 'b', amount: 1, prices: [{ ...calls, unitAmount: 2 }] },
  ]
  const keys = {
    NODE_ENV: 'production',
    DATABASE_URL: 'sqlite:app.db',
    BRAINTREE_ENVIRONMENT: 'sandbox',
    BRAINTREE_MERCHANT_ID: 'm',
    BRAINTREE_PUBLIC_KEY: 'k',
    BRAINTREE_PRIVATE_KEY: 'k',
  }
  const read = (given: readonly object[], environment: Record<string, string>) => {
    try {
      readEnvironment(environment, { settings: parseSettings({ plans: given }), needs: [] })
      return []
    } catch (error) {
      return (error as ConfigurationError).problems
    }
  }

  it('prevents the start of a service that has keys of that provider, with the reason and the fix', () => {
    const fix = 'write braintree: null into the plan, to sell it elsewhere only'
    expect(read(plans, keys)).toEqual([
      `plans: 'pro' cannot be sold at Braintree, which has no quantities, because of its seats: ${fix}`,
      `plans: 'api' cannot be sold at Braintree, which has no meteredPrices, because of its meter: ${fix}`,
      expect.stringMatching(
        /^plans: 'a' and 'b' have different prices for the meter api_calls, but/,
      ),
    ])
  })

  it('is accepted if it is not sold at that provider, or in a demo', () => {
    expect(read(plans, { DATABASE_URL: 'sqlite:app.db' })).toEqual([])
    const elsewhere = plans.map((plan) => ({ ...plan, braintree: null }))
    expect(read(elsewhere, keys)).toEqual([])
  })
})
