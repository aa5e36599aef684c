import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { toSeconds } from '../../sdk/client.ts'
import { cannotWait, type HeldParts, whyNotHeld } from './cannot-wait.ts'

const NOW = new Date('2026-01-15T10:00:00Z')
const HOUR = 3600
const DATE = '2026-01-16T'

/** One that is billed again after so many hours. */
function billedIn(hours: number, metadata: Stripe.Metadata = {}): Stripe.Subscription {
  const items = { data: [{ current_period_end: toSeconds(NOW) + hours * HOUR }] }
  return { id: 'sub_1', items, metadata } as Stripe.Subscription
}

const LATER = billedIn(500)
const tax = { default_tax_rates: ['txr_1'] }
const change = { items: [{ id: 'si_1', price: 'yearly' }] }
const full = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`own_${at}`, 'kept']))

describe('a change that is to wait for the customer', () => {
  it.each<[string, Stripe.Subscription, Partial<HeldParts>, string | null]>([
    ['another price', LATER, {}, null],
    ['the end of a trial', LATER, { change: { trial_end: 'now' } }, null],
    ['taking back an end', LATER, { change: { ...change, cancel_at_period_end: false } }, null],
    ['a price that is added', LATER, { change: { items: [{ price: 'book' }] } }, null],
    ['another price in the last hour', billedIn(1), {}, null],
    ['another tax', LATER, { tax }, null],
    ['another tax a day before a bill', billedIn(24), { tax }, null],
    ['another tax in the last day', billedIn(23.9), { tax }, `swapAtPeriodEnd(): the next bill`],
    ['another tax of a daily price', billedIn(20), { tax }, `${DATE}06:00:00.000Z`],
    [
      'another tax in the last day of what was to end',
      billedIn(20),
      { tax, change: { ...change, cancel_at_period_end: false } },
      'resume(), then swapAtPeriodEnd()',
    ],
    [
      'another tax in the last day of a trial that is to end',
      billedIn(20),
      { tax, change: { ...change, trial_end: 'now' } },
      `swap() without skipTrial(): the trial ends on ${DATE}`,
    ],
    [
      'a price that goes',
      LATER,
      { change: { items: [...change.items, { id: 'si_2', deleted: true }] } },
      'removePrice()',
    ],
    ['taking back a date', LATER, { change: { ...change, cancel_at: '' } }, 'resume()'],
    [
      'a price with rates that is added',
      LATER,
      { change: { items: [{ price: 'book', tax_rates: ['txr_1'] }] } },
      'addPrice()',
    ],
    ['anything else', LATER, { change: { ...change, description: 'x' } }, 'leave out description'],
    [
      'another tax where there is no room to remember the one before',
      billedIn(500, full),
      { tax, remembered: { tollgate_held_tax_0: '{}' } },
      'take out 1 of the keys in the metadata of sub_1',
    ],
    [
      'another tax where what was remembered before makes room',
      billedIn(500, { ...full, own_49: '', tollgate_held_tax_1: 'x' }),
      { tax, remembered: { tollgate_held_tax_0: '{}', tollgate_held_tax_1: '' } },
      null,
    ],
  ])('%s', (_name, current, parts, expected) => {
    const found = whyNotHeld(current, { tax: {}, change, remembered: {}, ...parts }, NOW)
    if (expected === null) expect(found).toBeNull()
    else expect(found).toContain(expected)
  })

  it('is refused with the one way round it', () => {
    const refused = cannotWait('resume(), then swap()', new Error('asked'))
    expect(refused.message).toMatch(/until they confirm\. Instead: resume\(\), then swap\(\)$/)
    expect(refused).toMatchObject({
      code: 'payment_failed',
      declineCode: 'authentication_required',
    })
  })
})
