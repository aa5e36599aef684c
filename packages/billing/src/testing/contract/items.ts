import assert from 'node:assert/strict'
import type { WantedItem } from '../../gateways/contract/item.ts'
import type { SubscriptionItems } from '../../gateways/contract/parts/subscriptions/items.ts'
import { type Account, type ContractPart, codeOf, openAccount } from './part.ts'

/** Several prices in one subscription, where the provider has them and the account names some. */
export const itemsContract: ContractPart = ({ describe, it }, create) => {
  const onItems = (
    name: string,
    body: (
      items: SubscriptionItems,
      prices: readonly [string, string],
      account: Account,
    ) => Promise<void>,
  ) =>
    it(`${name}, where there are several prices`, async () => {
      const account = await openAccount(create)
      const { items } = account.gateway
      if (items && account.furtherPrices) await body(items, account.furtherPrices, account)
    })

  describe('the prices of a subscription', () => {
    onItems('are those that are wanted, however often', async (items, [price, other], account) => {
      const { id, plan } = await account.subscribe()
      const main = { price: plan, quantity: 1 }
      for (const wanted of [
        [main, { price, quantity: 2 }],
        [main, { price, quantity: 5 }, { price: other, quantity: 1 }],
        [main, { price: other, quantity: 1 }],
        [main],
      ]) {
        for (let i = 0; i < 2; i++) await items.change(id, change(wanted), account.now())
        const found = await account.read(id)
        assert.deepEqual([found.plan, found.quantity], [plan, 1])
        assert.deepEqual(told(found.items ?? []), told(wanted))
        assert.equal(found.items?.filter(({ isMain }) => isMain).length, 1)
      }
    })

    onItems('begin with it', async (_items, [price], account) => {
      const [plan] = account.plans
      const { id } = await account.subscribe({ items: [{ price, quantity: 3 }] })
      const found = await account.read(id)
      const wanted = [
        { price: plan, quantity: 1 },
        { price, quantity: 3 },
      ]
      assert.deepEqual(told(found.items ?? []), told(wanted))
      assert.equal(found.plan, plan)
    })

    onItems('stay beside another plan', async (_items, [price], account) => {
      const { id } = await account.subscribe({ items: [{ price, quantity: 3 }] })
      const [, dearer] = account.plans
      const swap = { plan: dearer, skipTrial: false, ...change([]), invoiceNow: false }
      await account.gateway.swap(id, swap, account.now())
      const found = await account.read(id)
      assert.equal(found.plan, dearer)
      assert.ok(found.items?.some((item) => item.price === price && item.quantity === 3))
    })

    onItems('are previewed without a change', async (items, [price], account) => {
      const { id, plan } = await account.subscribe()
      const wanted = [
        { price: plan, quantity: 1 },
        { price, quantity: 2 },
      ]
      const preview = await items.preview(id, change(wanted), account.now())
      assert.equal(
        preview.lines.reduce((sum, { amount }) => sum + amount.amount, 0),
        preview.total.amount,
      )
      assert.deepEqual(
        told((await account.read(id)).items ?? []),
        told([{ price: plan, quantity: 1 }]),
      )
    })

    onItems('are known to the provider', async (items, _prices, account) => {
      const { id, plan } = await account.subscribe()
      const wanted = [
        { price: plan, quantity: 1 },
        { price: 'none-of-theirs', quantity: 1 },
      ]
      const code = await codeOf(() => items.change(id, change(wanted), account.now()))
      assert.equal(code, 'unknown_plan')
    })
  })
}

function change(wanted: readonly WantedItem[]) {
  return { wanted, prorate: true, invoiceNow: false, prorationDate: null, tax: 0, before: null }
}

function told(items: readonly WantedItem[]): string[] {
  return items.map(({ price, quantity }) => `${price} × ${quantity}`).sort()
}
