import { expect } from 'vitest'
import { type Story, subscribe } from '../story.ts'

export const taxes: readonly Story[] = [
  {
    name: 'a tax id',
    providers: ['stripe'],
    before: subscribe,
    job: () => ({ job: 'ask', method: 'createTaxId', args: ['eu_vat', 'DE123456789'] }),
    again: ({ user }) => user.createTaxId('eu_vat', 'DE123456789'),
    async outcome({ user }, at) {
      expect(await user.taxIds(), at).toMatchObject([{ value: 'DE123456789', country: 'DE' }])
    },
    writes: true,
  },
]
