import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { givenBackTo, START, settleCharge, stripeSdk } from '../../support.ts'
import { type Asking, main, ofInvoice, ofSubscription, PAID, type Story } from '../story.ts'
import { resume } from './subscriptions.ts'

/** Half of the first period, which begins with the story and has 31 days. */
const HALF = new Date(START.getTime() + 15.5 * 86_400_000)

/** A plan that is paid and settled. */
async function pay({ user, card, test, given }: Asking, plan: string): Promise<string> {
  await user.newSubscription('main', plan).create(card)
  const [invoice] = await user.invoicesIncludingPending()
  await settleCharge(test, given.provider, invoice?.id ?? '')
  return invoice?.id ?? ''
}

async function refundHalf(asking: Asking): Promise<void> {
  await asking.user.refund(await pay(asking, 'monthly'), { amount: money(500, 'usd') })
}

/** Expects this sum of pending invoice items: none is there twice. */
const waits = (cents: number) => async (asking: Asking, at: string) => {
  const { invoiceItems } = await stripeSdk(asking.test)
  const customer = asking.user.providerId ?? ''
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
    job: ofSubscription('swapAndInvoice', 'pro'),
    // 5.00 of the old plan are left.
    outcome: { ...PAID, plan: 'pro', taken: 1000 + 2000, made: { stripe: 1, braintree: 2 } },
  },
  {
    name: 'cancelAt after half was refunded',
    providers: ['stripe'],
    before: refundHalf,
    job: ofSubscription('cancelAt', { date: HALF.toISOString() }),
    outcome: waits(-250),
  },
  {
    name: 'resume after half was refunded',
    providers: ['stripe'],
    async before(asking) {
      await refundHalf(asking)
      await (await main(asking)).cancelAt(HALF)
    },
    job: ofSubscription('resume'),
    again: resume,
    outcome: waits(0),
  },
  {
    name: 'refund of what is not credited',
    async before(asking) {
      await pay(asking, 'pro')
      await (await main(asking)).swap('monthly')
    },
    job: ofInvoice('refund'),
    async outcome({ test, user }, at) {
      expect(givenBackTo(test, user), at).toBe(1000)
    },
  },
]
