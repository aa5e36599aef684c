import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { givenBackTo, settleCharge } from '../../support.ts'
import { type Asking, type Story, subscribe } from '../story.ts'

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
    job: (asking) => ({ job: 'ask', method: 'refund', args: [chargeOf(asking), part(asking)] }),
    again: (asking) => asking.user.refund(chargeOf(asking), part(asking)),
    outcome: back(300),
    writes: false,
  },
  {
    name: 'refund of a whole charge',
    before: charge,
    job: (asking) => ({ job: 'ask', method: 'refund', args: [chargeOf(asking)] }),
    again: (asking) => asking.user.refund(chargeOf(asking)),
    outcome: back(1000),
  },
]
