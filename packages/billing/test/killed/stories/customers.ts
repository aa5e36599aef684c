import { expect } from 'vitest'
import { type Asking, ofUser, type Story } from '../story.ts'

const DETAILS = { name: 'Ada King', phone: '+44 20 7946 0000', address: { city: 'London' } }

export const customers: readonly Story[] = [
  {
    name: 'updateCustomer',
    before: ({ user, card }) => user.updateCard(card),
    job: ofUser('updateCustomer', DETAILS),
    async outcome(asking, at) {
      expect(await detailsOf(asking), at).toEqual({
        name: DETAILS.name,
        phone: DETAILS.phone,
        cities: ['London'],
      })
    },
  },
]

/** What the provider's own object says, whichever it is. */
async function detailsOf({ user, given }: Asking) {
  const customer = (await user.asCustomer()) as {
    readonly name?: string
    readonly firstName?: string
    readonly lastName?: string
    readonly phone: string
    readonly address?: { readonly city: string }
    readonly addresses?: readonly { readonly locality: string }[]
  }
  const { phone } = customer
  return given.provider === 'stripe'
    ? { name: customer.name, phone, cities: [customer.address?.city] }
    : {
        name: `${customer.firstName} ${customer.lastName}`,
        phone,
        cities: customer.addresses?.map(({ locality }) => locality),
      }
}
