import { expect } from 'vitest'
import { type Asking, ofUser, type Story, subscribe } from '../story.ts'

/** What each user adds, chooses or takes away. */
const others = new Map<string | number, string>()

const otherOf = ({ user }: Asking) => others.get(user.id) ?? ''

async function addAnother(asking: Asking): Promise<void> {
  await subscribe(asking)
  const { id } = await asking.user.addPaymentMethod(asking.given.otherCard)
  others.set(asking.user.id, id)
}

/** So many, one of them billed, and our columns say which. */
const methods =
  (count: number, lastFour: (asking: Asking) => string | null | undefined) =>
  async (asking: Asking, at: string) => {
    const { user } = asking
    const all = await user.paymentMethods()
    expect(all, at).toHaveLength(count)
    const usual = all.filter(({ isDefault }) => isDefault)
    expect([usual.length, usual[0]?.lastFour], at).toEqual([
      count > 0 ? 1 : 0,
      user.cardLastFour ?? undefined,
    ])
    if (lastFour(asking) !== undefined) expect(user.cardLastFour, at).toBe(lastFour(asking))
  }

export const paymentMethods: readonly Story[] = [
  {
    name: 'addPaymentMethod to nobody yet',
    job: ({ card }) => ofUser('addPaymentMethod', card),
    outcome: methods(1, () => undefined),
  },
  {
    name: 'addPaymentMethod as the default',
    before: async ({ user, given }) => {
      await user.newSubscription('main', 'monthly').create(given.otherCard)
    },
    job: ({ card }) => ofUser('addPaymentMethod', card, { makeDefault: true }),
    outcome: methods(2, ({ given }) => (given.provider === 'stripe' ? '4242' : '1111')),
  },
  {
    name: 'updateDefaultPaymentMethod',
    before: addAnother,
    job: (asking) => ofUser('updateDefaultPaymentMethod', otherOf(asking)),
    outcome: methods(2, ({ given }) => given.otherLastFour),
  },
  {
    name: 'deletePaymentMethod',
    before: addAnother,
    job: (asking) => ofUser('deletePaymentMethod', otherOf(asking)),
    outcome: methods(1, () => undefined),
  },
  {
    name: 'deletePaymentMethods',
    before: async ({ user, card, given }) => {
      await user.addPaymentMethod(card)
      await user.addPaymentMethod(given.otherCard, { makeDefault: true })
    },
    job: ofUser('deletePaymentMethods'),
    outcome: methods(0, () => null),
  },
  {
    name: 'createSetupIntent of nobody yet',
    providers: ['stripe'],
    job: ofUser('createSetupIntent'),
    outcome: methods(0, () => null),
  },
]
