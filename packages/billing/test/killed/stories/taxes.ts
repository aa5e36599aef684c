import { expect } from 'vitest'
import { takenFrom } from '../../support.ts'
import { type Asking, ofSubscription, ofUser, type Story, subscribe } from '../story.ts'

const VAT = ['eu_vat', 'DE123456789'] as const

/** The tax id of each user. */
const ids = new Map<string | number, string>()

/** By what the application's row says, here and in other processes. */
const options: Story['options'] = {
  here: { taxPercentage: (({ name }: { name: string }) => (name === 'Taxed' ? 20 : 0)) as never },
  there: { taxesByName: true },
}

const rename = ({ test, user }: Asking) =>
  test.database.kysely
    .updateTable('users')
    .set({ name: 'Taxed' })
    .where('id', '=', user.id)
    .execute()

export const taxes: readonly Story[] = [
  {
    name: 'a tax id',
    providers: ['stripe'],
    before: subscribe,
    job: ofUser('createTaxId', ...VAT),
    async outcome({ user }, at) {
      expect(await user.taxIds(), at).toMatchObject([{ value: VAT[1], country: 'DE' }])
    },
  },
  {
    name: 'deleteTaxId',
    providers: ['stripe'],
    async before({ user }) {
      ids.set(user.id, (await user.createTaxId(...VAT)).id)
    },
    job: ({ user }) => ofUser('deleteTaxId', ids.get(user.id)),
    async outcome({ user }, at) {
      expect(await user.taxIds(), at).toEqual([])
    },
  },
  {
    name: 'setTaxExempt of nobody yet',
    providers: ['stripe'],
    job: ofUser('setTaxExempt', 'reverse'),
    async outcome({ user }, at) {
      expect(await user.taxExempt(), at).toBe('reverse')
    },
  },
  {
    name: 'syncTaxPercentage',
    options,
    async before(asking) {
      await subscribe(asking)
      await rename(asking)
    },
    job: ofSubscription('syncTaxPercentage'),
    async outcome(asking, at) {
      const { test, user } = asking
      expect(takenFrom(test, user), at).toBe(1000)
      const next = await user.upcomingInvoice('main')
      expect(next?.total.amount, at).toBe(1200)
    },
  },
]
