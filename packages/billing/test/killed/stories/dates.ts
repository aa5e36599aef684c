import { expect } from 'vitest'
import { START, takenFrom } from '../../support.ts'
import { type Asking, main, type Story, subscribe } from '../story.ts'

const LATER = new Date(START.getTime() + 50 * 86_400_000)
const date = { date: LATER.toISOString() }

function beginTrial({ user, card }: Asking) {
  return user.newSubscription('main', 'monthly').trialDays(9).create(card)
}

export const dates: readonly Story[] = [
  {
    name: 'cancelAt',
    providers: ['stripe'],
    before: subscribe,
    job: { job: 'ask', of: 'subscription', method: 'cancelAt', args: [date] },
    again: async (asking) => (await main(asking)).cancelAt(LATER),
    async outcome(asking, at) {
      expect((await main(asking)).endsAt, at).toEqual(LATER)
    },
  },
  {
    name: 'endTrial',
    providers: ['stripe'],
    before: beginTrial,
    job: { job: 'ask', of: 'subscription', method: 'endTrial' },
    again: async (asking) => (await main(asking)).endTrial(),
    async outcome(asking, at) {
      expect([(await main(asking)).onTrial(), takenFrom(asking.test, asking.user)], at).toEqual([
        false,
        1000,
      ])
    },
  },
  {
    name: 'extendTrial',
    providers: ['stripe'],
    before: beginTrial,
    job: { job: 'ask', of: 'subscription', method: 'extendTrial', args: [date] },
    again: async (asking) => (await main(asking)).extendTrial(LATER),
    async outcome(asking, at) {
      expect((await main(asking)).trialEndsAt, at).toEqual(LATER)
    },
  },
]
