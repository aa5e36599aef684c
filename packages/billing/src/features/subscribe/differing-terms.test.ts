import { describe, expect, it } from 'vitest'
import type { SubscriptionTerm } from '../../core/errors/different-term.ts'
import type { ProviderPaymentMethod } from '../../providers/payment-method.ts'
import {
  type ExistingSubscription,
  listDifferingTerms,
  type RequestedTerms,
} from './differing-terms.ts'

const NOW = new Date('2026-01-15T10:00:00Z')
const DAY = 86_400_000
const day = (days: number, seconds = 0) => new Date(NOW.getTime() + days * DAY + seconds * 1000)

const VISA: ProviderPaymentMethod = {
  ...{ id: 'pm_1', kind: 'card', brand: 'visa', lastFour: '4242', email: null, bank: null },
  ...{ expires: { month: 4, year: 2030 }, fingerprint: 'a', isDefault: true, raw: null },
}
const TYPED_AGAIN: ProviderPaymentMethod = { ...VISA, id: 'pm_2' }
const MASTERCARD: ProviderPaymentMethod = {
  ...VISA,
  id: 'pm_3',
  brand: 'mastercard',
  fingerprint: 'b',
}

type Asked = Partial<RequestedTerms['wanted']> &
  Pick<RequestedTerms, 'method'> & { tax?: RequestedTerms['tax'] }
type Running = Partial<ExistingSubscription['record']> & Partial<ExistingSubscription['agreed']>

function compare({ tax = null, method, ...wanted }: Asked, running: Running = {}) {
  const { provider, providerPlan, quantity, items, standing, trialEndsAt, endsAt, ...agreed } = {
    provider: 'stripe' as const,
    providerPlan: 'monthly',
    quantity: 1,
    items: [],
    standing: 'open' as const,
    trialEndsAt: null,
    endsAt: null,
    ...running,
  }
  return listDifferingTerms(
    {
      wanted: {
        ...{ provider: 'stripe', name: 'main', price: 'monthly', quantity: 1 },
        ...{ coupon: null, trialDays: null },
        ...wanted,
      },
      tax,
      ...(method === undefined ? {} : { method }),
    },
    {
      record: { provider, providerPlan, quantity, items, standing, trialEndsAt, endsAt },
      agreed: {
        ...{ coupon: null, discounts: [], trialDays: null, included: [], method: VISA },
        ...agreed,
      },
      now: NOW,
      tax: 'percentage',
      can: ['promotionCodes', 'trials'],
    },
  )
}

const item = (price: string, quantity: number | null) => ({
  ...{ price, quantity, providerId: `si_${price}`, product: null },
})
const TEN_DAYS = { trialEndsAt: day(8), trialDays: 10 }
const FREE_TO_FEBRUARY = { anchorAt: day(17), prorate: false }

describe('create() under the name of an existing subscription (threat Q2)', () => {
  it.each<[string, Asked, Running?]>([
    ['the plan alone', {}],
    ['the quantity of the plan', { quantity: 3 }, { quantity: 3 }],
    ['usage of the plan, which has no quantity', { isMetered: true }, { quantity: 5 }],
    [
      'further prices, in any order',
      {
        items: [
          { price: 'calls', quantity: null },
          { price: 'seat', quantity: 2 },
        ],
      },
      { items: [item('seat', 2), item('calls', null)] },
    ],
    ['a price that the plan includes', {}, { items: [item('vat', 1)], included: ['vat'] }],
    [
      'another quantity of a price that the plan includes',
      { items: [{ price: 'vat', quantity: 2 }] },
      { items: [item('vat', 2)], included: ['vat'] },
    ],
    ['the coupon it has', { coupon: 'SPRING' }, { coupon: 'SPRING', discounts: ['SPRING'] }],
    ['the coupon it began with, used up since', { coupon: 'SPRING' }, { coupon: 'SPRING' }],
    ['a coupon that was applied later', { coupon: 'SPRING' }, { discounts: ['SPRING'] }],
    ['no coupon, and one was applied later', {}, { discounts: ['PRESENT'] }],
    ['no coupon, and the one it began with is used up', {}, { coupon: 'SPRING' }],
    [
      'the promotion code it has',
      { coupon: 'promo_1', code: 'FRIENDS' },
      { coupon: 'promo_1', discounts: ['promo_1', 'SPRING'] },
    ],
    ['the days of its trial, two days later', { trialDays: 10 }, TEN_DAYS],
    ['the end of its trial', { trialEndsAt: day(8) }, TEN_DAYS],
    ['the end of its trial, a few seconds later', { trialEndsAt: day(8, 3) }, TEN_DAYS],
    ['no trial, after its trial', {}, { trialEndsAt: day(-1), trialDays: 10 }],
    ['no trial, although the plan has one', { trialDays: 0 }],
    ['the day of the first whole period', FREE_TO_FEBRUARY, FREE_TO_FEBRUARY],
    ['the day it began', { backdateTo: day(-40) }, { backdateTo: day(-40) }],
    ['no proration, when nothing is prorated', { prorate: false }],
    ['the tax of the options, named explicitly', { tax: 'percentage' }],
    ['the tax of the options, now omitted', {}, { chosenTax: 'percentage' }],
    [
      'its own tax rates, in any order',
      { tax: ['txr_b', 'txr_a'] },
      { chosenTax: ['txr_a', 'txr_b'] },
    ],
    ['the card of the customer', { method: null }],
    ['the card that it has', { method: VISA }],
    ['the card that it has, typed in again', { method: TYPED_AGAIN }],
    ['no card, and it needs none', { method: null, withoutCard: true }, { method: null }],
    ['no card, in a preview', {}, { method: null }],
  ])('accepts the same terms: %s', (_name, asked, running) => {
    expect(compare(asked, running)).toEqual([])
  })

  it.each<[SubscriptionTerm, string, Asked, Running, string, string, string]>([
    [
      'provider',
      'another provider',
      { provider: 'braintree' },
      {},
      'stripe',
      'braintree',
      'cancelNow() and create()',
    ],
    ['plan', 'another plan', { price: 'pro' }, {}, "'monthly'", "'pro'", 'swap()'],
    [
      'quantity',
      'a higher quantity of the plan',
      { quantity: 3 },
      {},
      '1',
      '3',
      'updateQuantity()',
    ],
    [
      'price',
      'a further price',
      { items: [{ price: 'seat', quantity: 2 }] },
      {},
      'none',
      'seat × 2',
      'addPrice() or updateQuantity()',
    ],
    [
      'price',
      'a higher quantity of a further price',
      { items: [{ price: 'seat', quantity: 2 }] },
      { items: [item('seat', 1)] },
      'seat × 1',
      'seat × 2',
      'addPrice() or updateQuantity()',
    ],
    [
      'price',
      'a missing price',
      {},
      { items: [item('seat', 1), item('calls', null)] },
      'seat × 1, calls',
      'none',
      'removePrice()',
    ],
    ['coupon', 'a coupon', { coupon: 'SPRING' }, {}, 'none', "'SPRING'", 'applyCoupon()'],
    [
      'coupon',
      'another coupon',
      { coupon: 'SPRING' },
      { coupon: 'FALL', discounts: ['FALL'] },
      "'FALL'",
      "'SPRING'",
      'applyCoupon()',
    ],
    [
      'coupon',
      'no coupon, while one is in force',
      {},
      { coupon: 'FALL', discounts: ['FALL'] },
      "'FALL'",
      'none',
      'removeDiscounts()',
    ],
    [
      'promotionCode',
      'a promotion code',
      { coupon: 'promo_1', code: 'FRIENDS' },
      {},
      'none',
      "'FRIENDS'",
      'applyPromotionCode()',
    ],
    ['trial', 'a trial', { trialDays: 10 }, {}, 'none', '10 days', 'extendTrial()'],
    [
      'trial',
      'a trial, after the trial has ended',
      { trialDays: 10 },
      { trialEndsAt: day(-1), trialDays: 10 },
      'none',
      '10 days',
      'extendTrial()',
    ],
    [
      'trial',
      'a longer trial',
      { trialDays: 14 },
      TEN_DAYS,
      `until ${day(8).toISOString()}`,
      '14 days',
      'extendTrial()',
    ],
    [
      'trial',
      'another end of the trial',
      { trialEndsAt: day(9) },
      TEN_DAYS,
      `until ${day(8).toISOString()}`,
      `until ${day(9).toISOString()}`,
      'extendTrial()',
    ],
    [
      'trial',
      'no trial',
      {},
      TEN_DAYS,
      `until ${day(8).toISOString()}`,
      'none',
      'skipTrial().swap()',
    ],
    [
      'trial',
      'no trial, requested explicitly',
      { trialDays: 0 },
      TEN_DAYS,
      `until ${day(8).toISOString()}`,
      'none',
      'skipTrial().swap()',
    ],
    [
      'anchorOn',
      'a day of the first whole period',
      { anchorAt: day(17) },
      {},
      'none',
      day(17).toISOString(),
      'cancelNow() and create()',
    ],
    [
      'anchorOn',
      'another day',
      { anchorAt: day(17) },
      { anchorAt: day(10) },
      day(10).toISOString(),
      day(17).toISOString(),
      'cancelNow() and create()',
    ],
    [
      'anchorOn',
      'no anchor, while one is in force',
      {},
      { anchorAt: day(10) },
      day(10).toISOString(),
      'none',
      'cancelNow() and create()',
    ],
    [
      'backdate',
      'an earlier day',
      { backdateTo: day(-40) },
      {},
      'none',
      day(-40).toISOString(),
      'cancelNow() and create()',
    ],
    [
      'noProrate',
      'free until that day',
      FREE_TO_FEBRUARY,
      { anchorAt: day(17) },
      'paid for',
      'free',
      'cancelNow() and create()',
    ],
    [
      'noProrate',
      'paid until that day',
      { anchorAt: day(17) },
      FREE_TO_FEBRUARY,
      'free',
      'paid for',
      'cancelNow() and create()',
    ],
    [
      'tax',
      'a tax chosen for the subscription',
      { tax: 'automatic' },
      {},
      'percentage',
      'automatic',
      'cancelNow() and create()',
    ],
    [
      'tax',
      'the tax of the options',
      {},
      { chosenTax: ['txr_a'] },
      'txr_a',
      'percentage',
      'cancelNow() and create()',
    ],
    [
      'card',
      'another card',
      { method: MASTERCARD },
      {},
      'Visa •••• 4242',
      'Mastercard •••• 4242',
      'updateCard()',
    ],
    [
      'card',
      'a card, while there is none',
      { method: VISA },
      { method: null },
      'none',
      'Visa •••• 4242',
      'updateCard()',
    ],
    [
      'card',
      'the card of a customer who has none',
      { method: null },
      { method: null },
      'none',
      'the card of the customer',
      'updateCard()',
    ],
    [
      'cancellation',
      'a subscription that is not cancelled',
      {},
      { endsAt: day(8) },
      `ends at ${day(8).toISOString()}`,
      'none',
      'resume() or swap()',
    ],
  ])(
    'reports that the term "%s" differs for %s',
    (term, _name, asked, running, inForce, wanted, use) => {
      expect(compare(asked, running)).toEqual([{ term, inForce, wanted, use }])
    },
  )

  it('reports all differences together, in the order of the builder', () => {
    const asked = { price: 'pro', coupon: 'SPRING', trialDays: 10, method: MASTERCARD }
    const names = compare(asked).map(({ term }) => term)
    expect(names).toEqual(['plan', 'coupon', 'trial', 'card'])
  })

  it('recommends a new subscription if the provider cannot change the term', () => {
    const [coupon, trial] = listDifferingTerms(
      {
        wanted: {
          ...{ provider: 'braintree', name: 'main', price: 'monthly', quantity: 1 },
          ...{ coupon: 'SPRING', trialDays: 10 },
        },
        tax: null,
      },
      {
        record: {
          ...{ provider: 'braintree', providerPlan: 'monthly', quantity: 1, items: [] },
          ...{ standing: 'open', trialEndsAt: null, endsAt: null },
        },
        agreed: { coupon: null, discounts: [], trialDays: null, included: [], method: VISA },
        now: NOW,
        tax: 'percentage',
        can: [],
      },
    )
    expect([coupon?.use, trial?.use]).toEqual(Array(2).fill('cancelNow() and create()'))
  })
})
