import assert from 'node:assert/strict'
import { standingOf } from '../../values/subscription-state.ts'
import { type Account, type ContractPart, codeOf, newOperation, openAccount } from './part.ts'

const DAY = 24 * 3600 * 1000

/** Other ways to begin than with a whole period from now on, where the provider has them. */
export const startsContract: ContractPart = ({ describe, it }, create) => {
  const starting = (
    part: 'anchors' | 'backdating' | 'freeStarts',
    name: string,
    body: (account: Account) => Promise<void>,
  ) =>
    it(`${name}, where there are ${part}`, async () => {
      const account = await openAccount(create)
      if (account.gateway[part]) await body(account)
    })

  describe('a subscription that begins in another way', () => {
    starting(
      'anchors',
      'is paid by its share until a day, and whole from there',
      async (account) => {
        const whole = await paidFor(account, {})
        const anchorAt = wholeSecond(account.now().getTime() + 10 * DAY)
        const share = await paidFor(account, { anchorAt }, anchorAt)
        assert.ok(share > 0 && share < whole / 2, `${share} of ${whole}`)
      },
    )

    starting('anchors', 'is free until a day', async (account) => {
      const { gateway, customerId, now } = account
      const anchorAt = wholeSecond(now().getTime() + 10 * DAY)
      await account.subscribe({ terms: { anchorAt, prorate: false } })
      assert.equal(await gateway.hasPaid(customerId), false)
    })

    starting('backdating', 'is paid since it began, or from now on', async (account) => {
      const whole = await paidFor(account, {})
      const backdateTo = wholeSecond(account.now().getTime() - 10 * DAY)
      assert.ok((await paidFor(account, { backdateTo })) > whole)
      assert.equal(await paidFor(account, { backdateTo, prorate: false }), whole)
    })

    starting('freeStarts', 'needs no card in a trial', async (account) => {
      const { gateway, provider } = account
      const customerId = await withoutCard(account)
      const terms = { customerId, withoutCard: true }
      const { id } = await account.subscribe({ trialDays: 9, terms })
      const { status, trialEndsAt } = await account.read(id)
      assert.equal(standingOf(provider.statuses, status), 'open')
      assert.ok(trialEndsAt && trialEndsAt > account.now())
      assert.equal(await gateway.hasPaid(customerId), false)
    })

    starting('freeStarts', 'needs a card where something is due', async (account) => {
      const customerId = await withoutCard(account)
      const terms = { customerId, withoutCard: true }
      assert.equal(await codeOf(() => account.subscribe({ terms })), 'no_payment_method')
      const { length } = (await account.gateway.listSubscriptions(customerId)).filter(
        ({ isOver }) => !isOver,
      )
      assert.equal(length, 0)
    })
  })
}

/** What the first invoice of another customer's subscription comes to. */
async function paidFor(
  account: Account,
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

async function withoutCard({ gateway }: Account): Promise<string> {
  const { id } = await gateway.createCustomer({
    owner: { type: 'user', id: ++customers },
    details: { email: `user-${customers}@example.com` },
    operation: newOperation(),
  })
  return id
}

function wholeSecond(time: number): Date {
  return new Date(Math.floor(time / 1000) * 1000)
}
