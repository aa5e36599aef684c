import { describe, expect, it } from 'vitest'
import { type BillableUser, type Billing, InvalidArgument } from '../src/index.ts'
import { START, start } from './support.ts'

interface Asked {
  readonly user: BillableUser
  readonly billing: Billing
}

const never = new Date('never')

/** Each row: the invalid argument, the call, and the expected message. */
const TABLE: [string, (asked: Asked) => Promise<unknown>, RegExp][] = [
  [
    'the end of a replay',
    ({ billing }) => billing.webhooks.replay({ from: START, to: never }),
    /^to is Invalid Date; expected a valid Date$/,
  ],
  [
    'the end of a subscription',
    async ({ user }) => (await user.subscription('main')).cancelAt(START),
    /^The end is 2026-01-15T10:00:00.000Z; expected a date in the future, after 2026-/,
  ],
  [
    'the end of a trial',
    ({ user }) => user.startGenericTrial(never),
    /^The end of the trial is Invalid Date; expected a valid Date$/,
  ],
  [
    'the end of a trial on a hosted page',
    ({ user }) => user.checkout('monthly', { successPath: '/done', trialUntil: never }),
    /^The end of the trial is Invalid Date; expected/,
  ],
  [
    'the reason of a refund',
    ({ user }) => user.refund('ch_1', { reason: 'bored' as never }),
    /^reason is 'bored'; expected duplicate, fraudulent, requested_by_customer$/,
  ],
  [
    'the destination of a credit note',
    async ({ user }) => (await user.invoices())[0]?.creditNote({ to: 'card' as never }),
    /^to is 'card'; expected refund, balance, outside$/,
  ],
  [
    'a promotion code',
    ({ user }) => user.findPromotionCode(7 as never),
    /^The promotion code is 7; expected the text of the code$/,
  ],
  [
    'a long description',
    ({ user }) => user.creditBalance(100, 'x'.repeat(300)),
    /^The description has 300 characters; expected text of 1 to 255 characters$/,
  ],
  [
    'the aggregation of a meter',
    ({ billing }) =>
      billing.usage.createMeter({ name: 'A', eventName: 'a', aggregation: 'max' as never }),
    /^aggregation is 'max'; expected /,
  ],
]

describe('an invalid argument', () => {
  it.each(TABLE)(
    'is reported with its name and the expected value in the message: %s',
    async (_name, ask, message) => {
      const { user, billing } = await start('stripe', { webhooks: false })
      await user.newSubscription('main', 'monthly').create('pm_card_visa')
      const asked = ask({ user, billing })
      await expect(asked).rejects.toThrow(InvalidArgument)
      await expect(asked).rejects.toThrow(message)
    },
  )
})
