import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { START, settleCharge, stripeSdk, sumRefundedCents } from '../../support.ts'
import {
  findMainSubscription,
  invoiceJob,
  PAID_SUBSCRIPTION,
  type Story,
  type StoryRun,
  subscriptionJob,
} from '../story.ts'
import { resume } from './subscriptions.ts'

/** The middle of the first period, which starts with the story and has 31 days. */
const MID_PERIOD = new Date(START.getTime() + 15.5 * 86_400_000)

/** Pays for a plan, and settles the charge. */
async function pay({ user, card, test, given }: StoryRun, plan: string): Promise<string> {
  await user.newSubscription('main', plan).create(card)
  const [invoice] = await user.invoicesIncludingPending()
  await settleCharge(test, given.provider, invoice?.id ?? '')
  return invoice?.id ?? ''
}

async function refundHalf(run: StoryRun): Promise<void> {
  await run.user.refund(await pay(run, 'monthly'), { amount: money(500, 'usd') })
}

/** Expects this sum of pending invoice items, which proves that none exists twice. */
const expectPendingItems = (cents: number) => async (run: StoryRun, at: string) => {
  const { invoiceItems } = await stripeSdk(run.test)
  const customer = run.user.providerId ?? ''
  const { data } = await invoiceItems.list({ customer, pending: true })
  expect(
    data.reduce((sum, { amount }) => sum + amount, 0),
    at,
  ).toBe(cents)
}

export const moneyBack: readonly Story[] = [
  {
    name: 'swap after half was refunded',
    before: refundHalf,
    job: subscriptionJob('swapAndInvoice', 'pro'),
    // 5.00 of the old plan remain as credit.
    outcome: {
      ...PAID_SUBSCRIPTION,
      plan: 'pro',
      taken: 1000 + 2000,
      made: { stripe: 1, braintree: 2 },
    },
  },
  {
    name: 'cancelAt after half was refunded',
    providers: ['stripe'],
    before: refundHalf,
    job: subscriptionJob('cancelAt', { date: MID_PERIOD.toISOString() }),
    outcome: expectPendingItems(-250),
  },
  {
    name: 'resume after half was refunded',
    providers: ['stripe'],
    async before(run) {
      await refundHalf(run)
      await (await findMainSubscription(run)).cancelAt(MID_PERIOD)
    },
    job: subscriptionJob('resume'),
    again: resume,
    outcome: expectPendingItems(0),
  },
  {
    name: 'refund of the part that is not credited',
    async before(run) {
      await pay(run, 'pro')
      await (await findMainSubscription(run)).swap('monthly')
    },
    job: invoiceJob('refund'),
    async outcome({ test, user }, at) {
      expect(sumRefundedCents(test, user), at).toBe(1000)
    },
  },
]
