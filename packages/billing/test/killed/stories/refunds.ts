import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { givenBackTo, settleCharge } from '../../support.ts'
import { type Asking, ofInvoice, ofUser, type Story, subscribe } from '../story.ts'

/** The charge of each user. */
const charges = new Map<string | number, string>()

async function charge(asking: Asking): Promise<string> {
  await subscribe(asking)
  const { id } = (await asking.user.charge(asking.given.ten)) as { id: string }
  charges.set(asking.user.id, id)
  return id
}

const chargeOf = ({ user }: Asking) => charges.get(user.id) ?? ''
const part = ({ user }: Asking) => ({
  amount: money(300, 'usd'),
  idempotencyKey: `refund-${user.id}`,
})
const back = (cents: number) => async (asking: Asking, at: string) =>
  expect(givenBackTo(asking.test, asking.user), at).toBe(cents)

export const refunds: readonly Story[] = [
  {
    name: 'refund of a part with a key',
    before: async (asking) =>
      settleCharge(asking.test, asking.given.provider, await charge(asking)),
    job: (asking) => ofUser('refund', chargeOf(asking), part(asking)),
    outcome: back(300),
  },
  {
    name: 'refund of a whole charge',
    before: charge,
    job: (asking) => ofUser('refund', chargeOf(asking)),
    outcome: back(1000),
  },
]

export const creditNotes: readonly Story[] = [
  {
    name: 'credit note of a part with a key',
    providers: ['stripe'],
    before: subscribe,
    job: ({ user }) =>
      ofInvoice('creditNote', {
        to: 'refund',
        amount: money(300, 'usd'),
        idempotencyKey: `note-${user.id}`,
      }),
    async outcome({ test, user }, at) {
      expect(givenBackTo(test, user), at).toBe(300)
      expect(await user.creditNotes(), at).toHaveLength(1)
    },
  },
  {
    name: 'credit note of a whole invoice',
    providers: ['stripe'],
    before: subscribe,
    job: ofInvoice('creditNote', { to: 'balance', memo: 'Sorry' }),
    async outcome({ user }, at) {
      expect(await user.balance(), at).toEqual(money(1000, 'usd'))
      expect(await user.creditNotes(), at).toHaveLength(1)
    },
  },
]
