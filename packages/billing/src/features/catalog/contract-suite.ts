import assert from 'node:assert/strict'
import { type ContractPart, openAccount } from '../../providers/contract-suite.ts'

/** Contract tests of the catalog, for gateways with the part `catalog`. */
export const catalogContract: ContractPart = ({ describe, it }, create) => {
  describe('the catalog', () => {
    it('lists at most as many subscription prices as the limit allows, with whole amounts', async () => {
      const { gateway, plans, currency } = await openAccount(create)
      const { catalog } = gateway
      if (!catalog) return
      const prices = await catalog.listPrices(100)
      for (const plan of plans) {
        const found = prices.find(({ id }) => id === plan)
        assert.equal(found?.amount?.currency, currency)
        assert.ok(Number.isSafeInteger(found?.amount?.amount))
        assert.ok((found?.period.count ?? 0) > 0)
      }
      assert.equal((await catalog.listPrices(1)).length, 1)
    })

    it('lists coupons that take off a percentage or an amount', async () => {
      const { gateway } = await openAccount(create)
      for (const { percentOff, amountOff } of (await gateway.catalog?.listCoupons(100)) ?? []) {
        assert.equal((percentOff === null) === (amountOff === null), false)
      }
    })
  })
}
