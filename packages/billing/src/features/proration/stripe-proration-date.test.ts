import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { toSeconds } from '../../providers/stripe/client.ts'
import { requireWithinPeriod } from './stripe-running.ts'

const FROM = new Date('2026-01-15T10:00:00Z')
const TO = new Date('2026-02-15T10:00:00Z')
const item = { current_period_start: toSeconds(FROM), current_period_end: toSeconds(TO) }
const current = { items: { data: [item] } } as Stripe.Subscription

it.each([new Date('2026-01-15T09:59:59Z'), new Date('2026-02-15T10:00:01Z')])(
  'requireWithinPeriod() rejects the proration date %s and names the current period',
  (date) => {
    expect(() => requireWithinPeriod(current, date)).toThrow(
      `for ${date.toISOString()}, but the current period is from 2026-01-15T10:00:00.000Z to 2026-02-15T10:00:00.000Z`,
    )
    expect(requireWithinPeriod(current, FROM)).toEqual(FROM)
    expect(requireWithinPeriod(current, TO)).toEqual(TO)
  },
)
