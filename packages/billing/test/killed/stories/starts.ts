import { START } from '../../support.ts'
import { type Asking, PAID, type Story } from '../story.ts'

const FEBRUARY = new Date('2026-02-01T00:00:00Z')
const DECEMBER = new Date('2025-12-15T10:00:00Z')
const MONTH = 31 * 86_400_000
const PLAN = ({ user }: Asking) => user.newSubscription('main', 'monthly')
const made = { stripe: 1, braintree: 0 }

/** Ways to begin, each with what the builder is told in another process. */
export const starts: readonly Story[] = [
  {
    name: 'create from a day on',
    providers: ['stripe'],
    before: async () => undefined,
    job: { job: 'begin', terms: [['anchorOn', { date: FEBRUARY }]] },
    again: (asking) => PLAN(asking).anchorOn(FEBRUARY).create(asking.card),
    outcome: {
      ...PAID,
      made,
      taken: Math.round((1000 * (FEBRUARY.getTime() - START.getTime())) / MONTH),
    },
  },
  {
    name: 'create in the past',
    providers: ['stripe'],
    before: async () => undefined,
    job: { job: 'begin', terms: [['backdate', { date: DECEMBER }]] },
    again: (asking) => PLAN(asking).backdate(DECEMBER).create(asking.card),
    outcome: { ...PAID, made, taken: 2000 },
  },
  {
    name: 'create without a card',
    providers: ['stripe'],
    before: async () => undefined,
    job: { job: 'begin', card: null, terms: [['trialDays', 9], ['withoutCard']] },
    again: (asking) => PLAN(asking).trialDays(9).withoutCard().create(),
    outcome: { ...PAID, made, taken: 0 },
  },
]
