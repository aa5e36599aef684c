import assert from 'node:assert/strict'
import {
  type ContractPart,
  catchErrorCode,
  createCapabilityTests,
} from '../../providers/contract-suite.ts'
import type { RequestedItem } from '../../providers/item.ts'

/**
 * Contract tests of subscriptions with several prices, for gateways that implement `items`, in test
 * accounts with such prices.
 */
export const defineItemsContract: ContractPart = ({ describe, it }, create) => {
  const onItems = createCapabilityTests(
    'items',
    'for gateways with several prices',
    { it },
    create,
    async (_items, account) => account.furtherPrices,
  )

  describe('the prices of a subscription', () => {
    onItems(
      'match the requested prices after repeated changes',
      async (items, account, [price, other]) => {
        const { id, price: mainPrice } = await account.subscribe()
        const main = { price: mainPrice, quantity: 1 }
        for (const wanted of [
          [main, { price, quantity: 2 }],
          [main, { price, quantity: 5 }, { price: other, quantity: 1 }],
          [main, { price: other, quantity: 1 }],
          [main],
        ]) {
          for (let i = 0; i < 2; i++) await items.change(id, change(wanted), account.now())
          const found = await account.read(id)
          assert.deepEqual([found.price, found.quantity], [mainPrice, 1])
          assert.deepEqual(format(found.items ?? []), format(wanted))
          assert.equal(found.items?.filter(({ isMain }) => isMain).length, 1)
        }
      },
    )

    onItems('are billed from the start', async (_items, account, [price]) => {
      const [mainPrice] = account.prices
      const { id } = await account.subscribe({ items: [{ price, quantity: 3 }] })
      const found = await account.read(id)
      const wanted = [
        { price: mainPrice, quantity: 1 },
        { price, quantity: 3 },
      ]
      assert.deepEqual(format(found.items ?? []), format(wanted))
      assert.equal(found.price, mainPrice)
    })

    onItems('are kept by a swap of the main price', async (_items, account, [price]) => {
      const { id } = await account.subscribe({ items: [{ price, quantity: 3 }] })
      const [, dearer] = account.prices
      const swap = { price: dearer, skipTrial: false, ...change([]), invoiceNow: false }
      await account.gateway.swap(id, swap, account.now())
      const found = await account.read(id)
      assert.equal(found.price, dearer)
      assert.ok(found.items?.some((item) => item.price === price && item.quantity === 3))
    })

    onItems('are not changed by a preview', async (items, account, [price]) => {
      const { id, price: mainPrice } = await account.subscribe()
      const wanted = [
        { price: mainPrice, quantity: 1 },
        { price, quantity: 2 },
      ]
      const preview = await items.preview(id, change(wanted), account.now())
      assert.equal(
        preview.lines.reduce((sum, { amount }) => sum + amount.amount, 0),
        preview.total.amount,
      )
      assert.deepEqual(
        format((await account.read(id)).items ?? []),
        format([{ price: mainPrice, quantity: 1 }]),
      )
    })

    onItems('are refused if the provider does not know them', async (items, account, _prices) => {
      const { id, price: mainPrice } = await account.subscribe()
      const wanted = [
        { price: mainPrice, quantity: 1 },
        { price: 'none-of-theirs', quantity: 1 },
      ]
      const code = await catchErrorCode(() => items.change(id, change(wanted), account.now()))
      assert.equal(code, 'unknown_price')
    })
  })
}

function change(requestedItems: readonly RequestedItem[]) {
  return {
    wanted: requestedItems,
    prorate: true,
    invoiceNow: false,
    prorationDate: null,
    tax: 0,
    before: null,
  }
}

function format(items: readonly RequestedItem[]): string[] {
  return items.map(({ price, quantity }) => `${price} × ${quantity}`).sort()
}
