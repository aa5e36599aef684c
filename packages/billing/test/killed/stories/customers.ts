import { expect } from 'vitest'
import type { BillableUser } from '../../../src/index.ts'
import { sumChargedCents } from '../../support.ts'
import { type Story, type StoryRun, subscribe, userJob } from '../story.ts'

const DETAILS = { name: 'Ada King', phone: '+44 20 7946 0000', address: { city: 'London' } }

export const customers: readonly Story[] = [
  {
    name: 'transferTo',
    // Braintree does not store the owner, so nothing is sent to it.
    providers: ['stripe'],
    before: subscribeGiver,
    job: ({ user }) => ({ job: 'transfer', from: getGiverId(user) }),
    async outcome(run, at) {
      const { test, user } = run
      expect(await user.subscribed('main', 'monthly'), at).toBe(true)
      expect(sumChargedCents(test, user), at).toBe(1000)
      const giver = await test.billing.user(getGiverId(user))
      expect([giver.providerId, await giver.subscriptions()], at).toEqual([null, []])
      const named = (await user.asCustomer()) as { readonly metadata?: { user_id?: string } }
      if (user.provider === 'stripe') expect(named.metadata?.user_id, at).toBe(String(user.id))
      const given = await test.database.kysely
        .selectFrom('billing_transfers')
        .select('to_id')
        .where('from_id', '=', String(giver.id))
        .execute()
      expect(given, at).toEqual([{ to_id: String(user.id) }])
    },
  },
  {
    name: 'updateCustomer',
    before: ({ user, card }) => user.updateCard(card),
    job: userJob('updateCustomer', DETAILS),
    async outcome(run, at) {
      expect(await detailsOf(run), at).toEqual({
        name: DETAILS.name,
        phone: DETAILS.phone,
        cities: ['London'],
      })
    },
  },
]

/** Reads the customer's details from the provider's own object. */
async function detailsOf({ user, given }: StoryRun) {
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

const getGiverId = ({ id }: BillableUser): number => Number(id) + 1_000_000

/** Creates another user with the same e-mail address and a subscription. */
async function subscribeGiver({ test, user, card }: StoryRun): Promise<void> {
  const { email } = user.attributes as { email: string }
  const id = getGiverId(user)
  await test.database.kysely.insertInto('users').values({ id, email, name: 'Ada' }).execute()
  await subscribe({ user: await test.billing.user(id), card })
}
