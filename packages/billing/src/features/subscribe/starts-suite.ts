import assert from 'node:assert/strict'
import { lookUpStanding } from '../../core/values/subscription-state.ts'
import {
  type ContractPart,
  type ContractTestAccount,
  catchErrorCode,
  createOperationId,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'

const DAY = 24 * 3600 * 1000

/**
 * Contract tests of special starts of subscriptions (on an anchor date, in the past, without a
 * card), for gateways that implement `anchors`, `backdating` or `freeStarts`.
 */
export const defineSubscriptionStartsContract: ContractPart = ({ describe, it }, create) => {
  const starting = (
    part: 'anchors' | 'backdating' | 'freeStarts',
    name: string,
    body: (account: ContractTestAccount) => Promise<void>,
  ) =>
    it(`${name}, if the gateway has ${part}`, async () => {
      const account = await openContractTestAccount(create)
      if (account.gateway[part]) await body(account)
    })

  describe('the start of a new subscription', () => {
    starting(
      'anchors',
      'charges proportionally until the anchor, and whole periods from then on',
      async (account) => {
        const whole = await paidFor(account, {})
        const anchorAt = wholeSecond(account.now().getTime() + 10 * DAY)
        const share = await paidFor(account, { anchorAt }, anchorAt)
        assert.ok(share > 0 && share < whole / 2, `${share} of ${whole}`)
      },
    )

    starting('anchors', 'is free until the anchor without proration', async (account) => {
      const { gateway, customerId, now } = account
      const anchorAt = wholeSecond(now().getTime() + 10 * DAY)
      await account.subscribe({ terms: { anchorAt, prorate: false } })
      assert.equal(await gateway.hasPaid(customerId), false)
    })

    starting(
      'backdating',
      'charges the time since the backdated start, or only from now on without proration',
      async (account) => {
        const whole = await paidFor(account, {})
        const backdateTo = wholeSecond(account.now().getTime() - 10 * DAY)
        assert.ok((await paidFor(account, { backdateTo })) > whole)
        assert.equal(await paidFor(account, { backdateTo, prorate: false }), whole)
      },
    )

    starting('freeStarts', 'needs no card during a trial', async (account) => {
      const { gateway, provider } = account
      const customerId = await withoutCard(account)
      const terms = { customerId, withoutCard: true }
      const { id } = await account.subscribe({ trialDays: 9, terms })
      const { status, trialEndsAt } = await account.read(id)
      assert.equal(lookUpStanding(provider.statuses, status), 'open')
      assert.ok(trialEndsAt && trialEndsAt > account.now())
      assert.equal(await gateway.hasPaid(customerId), false)
    })

    starting('freeStarts', 'needs a card if something is due', async (account) => {
      const customerId = await withoutCard(account)
      const terms = { customerId, withoutCard: true }
      assert.equal(await catchErrorCode(() => account.subscribe({ terms })), 'no_payment_method')
      const { length } = (await account.gateway.listSubscriptions(customerId)).filter(
        ({ isOver }) => !isOver,
      )
      assert.equal(length, 0)
    })
  })
}

/** Returns the total of the first invoice of a new customer's subscription. */
async function paidFor(
  account: ContractTestAccount,
  terms: { readonly anchorAt?: Date; readonly backdateTo?: Date; readonly prorate?: boolean },
  periodEndsAt?: Date,
): Promise<number> {
  const { gateway, cards } = account
  const customerId = await withoutCard(account)
  await gateway.setCard(customerId, cards[0])
  const { id } = await account.subscribe({ terms: { customerId, ...terms } })
  if (periodEndsAt) assert.deepEqual((await account.read(id)).periodEndsAt, periodEndsAt)
  const filter = { pending: true, limit: null, taxOf: () => 0 }
  const [invoice] = await gateway.listInvoices(customerId, filter)
  return invoice?.total ?? 0
}

let customers = 100

async function withoutCard({ gateway }: ContractTestAccount): Promise<string> {
  const { id } = await gateway.createCustomer({
    owner: { type: 'user', id: ++customers },
    details: { email: `user-${customers}@example.com` },
    operation: createOperationId(),
  })
  return id
}

function wholeSecond(time: number): Date {
  return new Date(Math.floor(time / 1000) * 1000)
}
