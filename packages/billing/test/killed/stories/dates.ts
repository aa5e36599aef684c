import { expect } from 'vitest'
import { START, sumChargedCents } from '../../support.ts'
import {
  beginTrial,
  findMainSubscription,
  type Story,
  subscribe,
  subscriptionJob,
} from '../story.ts'

const LATER = new Date(START.getTime() + 50 * 86_400_000)
const date = { date: LATER.toISOString() }

export const dates: readonly Story[] = [
  {
    name: 'cancelAt',
    providers: ['stripe'],
    before: subscribe,
    job: subscriptionJob('cancelAt', date),
    async outcome(run, at) {
      expect((await findMainSubscription(run)).endsAt, at).toEqual(LATER)
    },
  },
  {
    name: 'endTrial',
    providers: ['stripe'],
    before: beginTrial,
    job: subscriptionJob('endTrial'),
    async outcome(run, at) {
      expect(
        [(await findMainSubscription(run)).onTrial(), sumChargedCents(run.test, run.user)],
        at,
      ).toEqual([false, 1000])
    },
  },
  {
    name: 'extendTrial',
    providers: ['stripe'],
    before: beginTrial,
    job: subscriptionJob('extendTrial', date),
    async outcome(run, at) {
      expect((await findMainSubscription(run)).trialEndsAt, at).toEqual(LATER)
    },
  },
]
