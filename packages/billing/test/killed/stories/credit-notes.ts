import { expect } from 'vitest'
import { type CreditNoteOptions, money } from '../../../src/index.ts'
import { givenBackTo } from '../../support.ts'
import { type Asking, type Story, subscribe } from '../story.ts'

const part = ({ user }: Asking): CreditNoteOptions => ({
  to: 'refund',
  amount: money(300, 'usd'),
  idempotencyKey: `note-${user.id}`,
})
const WHOLE: CreditNoteOptions = { to: 'balance', memo: 'Sorry' }

const write = async ({ user }: Asking, options: CreditNoteOptions) => {
  const [invoice] = await user.invoices()
  return invoice?.creditNote(options)
}

export const creditNotes: readonly Story[] = [
  {
    name: 'credit note of a part with a key',
    providers: ['stripe'],
    before: subscribe,
    job: (asking) => ({ job: 'creditNote', options: part(asking) }),
    again: (asking) => write(asking, part(asking)),
    async outcome({ test, user }, at) {
      expect(givenBackTo(test, user), at).toBe(300)
      expect(await user.creditNotes(), at).toHaveLength(1)
    },
    writes: false,
  },
  {
    name: 'credit note of a whole invoice',
    providers: ['stripe'],
    before: subscribe,
    job: { job: 'creditNote', options: WHOLE },
    again: (asking) => write(asking, WHOLE),
    async outcome({ user }, at) {
      expect(await user.balance(), at).toEqual(money(1000, 'usd'))
      expect(await user.creditNotes(), at).toHaveLength(1)
    },
  },
]
