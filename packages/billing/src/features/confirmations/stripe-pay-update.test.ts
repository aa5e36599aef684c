import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { toSeconds } from '../../providers/stripe/client.ts'
import {
  createCannotDelayError,
  findDelayAlternative,
  type TaxAndOtherChanges,
} from './stripe-pay-update.ts'

const NOW = new Date('2026-01-15T10:00:00Z')
const HOUR = 3600
const DATE = '2026-01-16T'

/** A subscription whose next invoice is due in the given number of hours. */
function billedIn(hours: number, metadata: Stripe.Metadata = {}): Stripe.Subscription {
  const items = { data: [{ current_period_end: toSeconds(NOW) + hours * HOUR }] }
  return { id: 'sub_1', items, metadata } as Stripe.Subscription
}

const LATER = billedIn(500)
const tax = { default_tax_rates: ['txr_1'] }
const change = { items: [{ id: 'si_1', price: 'yearly' }] }
const full = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`own_${at}`, 'kept']))

describe('delaying a change of a subscription until the customer confirms the payment', () => {
  it.each<[string, Stripe.Subscription, Partial<TaxAndOtherChanges>, string | null]>([
    ['is possible for another price', LATER, {}, null],
    ['is possible for the end of a trial', LATER, { change: { trial_end: 'now' } }, null],
    [
      'is possible for resuming',
      LATER,
      { change: { ...change, cancel_at_period_end: false } },
      null,
    ],
    ['is possible for an added price', LATER, { change: { items: [{ price: 'book' }] } }, null],
    ['is possible for another price in the last hour', billedIn(1), {}, null],
    ['is possible for another tax', LATER, { tax }, null],
    ['is possible for another tax a day before an invoice', billedIn(24), { tax }, null],
    [
      'is impossible for another tax in the last day',
      billedIn(23.9),
      { tax },
      'swapAtPeriodEnd(): the next invoice',
    ],
    [
      'is impossible for another tax of a daily price',
      billedIn(20),
      { tax },
      `${DATE}06:00:00.000Z`,
    ],
    [
      'is impossible for another tax in the last day before a cancellation',
      billedIn(20),
      { tax, change: { ...change, cancel_at_period_end: false } },
      'resume(), then swapAtPeriodEnd()',
    ],
    [
      'is impossible for another tax in the last day of a trial',
      billedIn(20),
      { tax, change: { ...change, trial_end: 'now' } },
      `swap() without skipTrial(): the trial ends on ${DATE}`,
    ],
    [
      'is impossible for a removed price',
      LATER,
      { change: { items: [...change.items, { id: 'si_2', deleted: true }] } },
      'removePrice()',
    ],
    [
      'is impossible for the removal of an end date',
      LATER,
      { change: { ...change, cancel_at: '' } },
      'resume()',
    ],
    [
      'is impossible for an added price with tax rates',
      LATER,
      { change: { items: [{ price: 'book', tax_rates: ['txr_1'] }] } },
      'addPrice()',
    ],
    [
      'is impossible for unknown parameters',
      LATER,
      { change: { ...change, description: 'x' } },
      'leave out description',
    ],
    [
      'is impossible for another tax if the metadata is full',
      billedIn(500, full),
      { tax, remembered: { tollgate_held_tax_0: '{}' } },
      'take out 1 of the keys in the metadata of sub_1',
    ],
    [
      'is possible for another tax if remembered taxes make room in the metadata',
      billedIn(500, { ...full, own_49: '', tollgate_held_tax_1: 'x' }),
      { tax, remembered: { tollgate_held_tax_0: '{}', tollgate_held_tax_1: '' } },
      null,
    ],
  ])('is possible only for some changes: it %s', (_name, current, parts, expected) => {
    const found = findDelayAlternative(current, { tax: {}, change, remembered: {}, ...parts }, NOW)
    if (expected === null) expect(found).toBeNull()
    else expect(found).toContain(expected)
  })

  it('throws an error that names an alternative if it is impossible', () => {
    const refused = createCannotDelayError('resume(), then swap()', new Error('asked'))
    expect(refused.message).toMatch(/until they confirm\. Instead: resume\(\), then swap\(\)$/)
    expect(refused).toMatchObject({
      code: 'payment_failed',
      declineCode: 'authentication_required',
    })
  })
})
