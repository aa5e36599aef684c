import { PAID, type Story, subscribe } from '../story.ts'

export const payments: readonly Story[] = [
  {
    name: 'charge with a key',
    before: subscribe,
    job: ({ user, given }) => ({ job: 'charge', amount: given.ten, key: `order-${user.id}` }),
    again: ({ user, given }) => user.charge(given.ten, { idempotencyKey: `order-${user.id}` }),
    outcome: { ...PAID, taken: 2000 },
    writes: false,
  },
]
