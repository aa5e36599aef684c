import { expect } from 'vitest'
import { START, stripeSdk, sumChargedCents } from '../../support.ts'
import { findMainSubscription, PAID_SUBSCRIPTION, type Story } from '../story.ts'

const FEBRUARY = new Date('2026-02-01T00:00:00Z')
const DECEMBER = new Date('2025-12-15T10:00:00Z')
const MONTH = 31 * 86_400_000
const subscriptionsMade = { stripe: 1, braintree: 0 }

/** Ways to start a subscription, each with its calls of the builder. */
export const starts: readonly Story[] = [
  {
    name: 'create with anchorOn',
    providers: ['stripe'],
    job: { job: 'create', terms: [['anchorOn', { date: FEBRUARY }]] },
    outcome: {
      ...PAID_SUBSCRIPTION,
      made: subscriptionsMade,
      taken: Math.round((1000 * (FEBRUARY.getTime() - START.getTime())) / MONTH),
    },
  },
  {
    name: 'create with backdate',
    providers: ['stripe'],
    job: { job: 'create', terms: [['backdate', { date: DECEMBER }]] },
    outcome: { ...PAID_SUBSCRIPTION, made: subscriptionsMade, taken: 2000 },
  },
  {
    name: 'create withoutCard',
    providers: ['stripe'],
    job: { job: 'create', card: undefined, terms: [['trialDays', 9], ['withoutCard']] },
    outcome: { ...PAID_SUBSCRIPTION, made: subscriptionsMade, taken: 0 },
  },
  {
    name: 'create with metadata',
    providers: ['stripe'],
    job: { job: 'create', terms: [['withMetadata', { campaign: 'spring' }]] },
    async outcome(run, at) {
      const subscription = await findMainSubscription(run)
      expect(await subscription.metadata(), at).toEqual({ campaign: 'spring' })
      const { subscriptions } = await stripeSdk(run.test)
      const { data } = await subscriptions.list({ customer: run.user.providerId ?? '' })
      expect(
        data.map(({ id }) => id),
        at,
      ).toEqual([subscription.providerId])
      expect(sumChargedCents(run.test, run.user), at).toBe(1000)
    },
  },
]
