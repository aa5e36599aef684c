import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { settleCharge, sumRefundedCents } from '../../support.ts'
import { invoiceJob, type Story, type StoryRun, subscribe, userJob } from '../story.ts'

/** The charge of each user. */
const charges = new Map<string | number, string>()

async function charge(run: StoryRun): Promise<string> {
  await subscribe(run)
  const { id } = (await run.user.charge(run.given.ten)) as { id: string }
  charges.set(run.user.id, id)
  return id
}

const chargeOf = ({ user }: StoryRun) => charges.get(user.id) ?? ''
const partialRefundOptions = ({ user }: StoryRun) => ({
  amount: money(300, 'usd'),
  idempotencyKey: `refund-${user.id}`,
})
const expectReturnedCents = (cents: number) => async (run: StoryRun, at: string) =>
  expect(sumRefundedCents(run.test, run.user), at).toBe(cents)

export const refunds: readonly Story[] = [
  {
    name: 'refund of a part with an idempotency key',
    before: async (run) => settleCharge(run.test, run.given.provider, await charge(run)),
    job: (run) => userJob('refund', chargeOf(run), partialRefundOptions(run)),
    outcome: expectReturnedCents(300),
  },
  {
    name: 'refund of a whole charge',
    before: charge,
    job: (run) => userJob('refund', chargeOf(run)),
    outcome: expectReturnedCents(1000),
  },
]

export const creditNotes: readonly Story[] = [
  {
    name: 'credit note of a part with an idempotency key',
    providers: ['stripe'],
    before: subscribe,
    job: ({ user }) =>
      invoiceJob('creditNote', {
        to: 'refund',
        amount: money(300, 'usd'),
        idempotencyKey: `note-${user.id}`,
      }),
    async outcome({ test, user }, at) {
      expect(sumRefundedCents(test, user), at).toBe(300)
      expect(await user.creditNotes(), at).toHaveLength(1)
    },
  },
  {
    name: 'credit note of a whole invoice',
    providers: ['stripe'],
    before: subscribe,
    job: invoiceJob('creditNote', { to: 'balance', memo: 'Sorry' }),
    async outcome({ user }, at) {
      expect(await user.balance(), at).toEqual(money(1000, 'usd'))
      expect(await user.creditNotes(), at).toHaveLength(1)
    },
  },
]
