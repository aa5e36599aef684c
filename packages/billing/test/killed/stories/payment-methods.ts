import { expect } from 'vitest'
import { type Story, type StoryRun, subscribe, userJob } from '../story.ts'

/** The second payment method of each user. */
const others = new Map<string | number, string>()

const otherOf = ({ user }: StoryRun) => others.get(user.id) ?? ''

async function addAnother(run: StoryRun): Promise<void> {
  await subscribe(run)
  const { id } = await run.user.addPaymentMethod(run.given.otherCard)
  others.set(run.user.id, id)
}

/** Expects this number of payment methods, one of them the default, as stored in our columns. */
const methods =
  (count: number, lastFour: (run: StoryRun) => string | null | undefined) =>
  async (run: StoryRun, at: string) => {
    const { user } = run
    const all = await user.paymentMethods()
    expect(all, at).toHaveLength(count)
    const usual = all.filter(({ isDefault }) => isDefault)
    expect([usual.length, usual[0]?.lastFour], at).toEqual([
      count > 0 ? 1 : 0,
      user.cardLastFour ?? undefined,
    ])
    if (lastFour(run) !== undefined) expect(user.cardLastFour, at).toBe(lastFour(run))
  }

export const paymentMethods: readonly Story[] = [
  {
    name: 'addPaymentMethod before there is a customer',
    job: ({ card }) => userJob('addPaymentMethod', card),
    outcome: methods(1, () => undefined),
  },
  {
    name: 'addPaymentMethod as the default',
    before: async ({ user, given }) => {
      await user.newSubscription('main', 'monthly').create(given.otherCard)
    },
    job: ({ card }) => userJob('addPaymentMethod', card, { makeDefault: true }),
    outcome: methods(2, ({ given }) => (given.provider === 'stripe' ? '4242' : '1111')),
  },
  {
    name: 'updateDefaultPaymentMethod',
    before: addAnother,
    job: (run) => userJob('updateDefaultPaymentMethod', otherOf(run)),
    outcome: methods(2, ({ given }) => given.otherLastFour),
  },
  {
    name: 'deletePaymentMethod',
    before: addAnother,
    job: (run) => userJob('deletePaymentMethod', otherOf(run)),
    outcome: methods(1, () => undefined),
  },
  {
    name: 'deletePaymentMethods',
    before: async ({ user, card, given }) => {
      await user.addPaymentMethod(card)
      await user.addPaymentMethod(given.otherCard, { makeDefault: true })
    },
    job: userJob('deletePaymentMethods'),
    outcome: methods(0, () => null),
  },
  {
    name: 'createSetupIntent before there is a customer',
    providers: ['stripe'],
    job: userJob('createSetupIntent'),
    outcome: methods(0, () => null),
  },
]
