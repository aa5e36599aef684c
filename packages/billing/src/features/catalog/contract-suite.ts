import assert from 'node:assert/strict'
import {
  type ContractPart,
  catchErrorCode,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'
import type { CatalogPage } from './contract.ts'

const FIRST = { limit: 100, after: null }

/** Contract tests of the catalog, for gateways with the part `catalog`. */
export const defineCatalogContract: ContractPart = ({ describe, it }, create) => {
  describe('the catalog', () => {
    it('lists the subscription prices with whole amounts', async () => {
      const { gateway, prices, currency } = await openContractTestAccount(create)
      const { catalog } = gateway
      if (!catalog) return
      const { entries } = await catalog.listPrices(FIRST)
      for (const price of prices) {
        const found = entries.find(({ id }) => id === price)
        assert.equal(found?.amount?.currency, currency)
        assert.ok(Number.isSafeInteger(found?.amount?.amount))
        assert.ok((found?.period.count ?? 0) > 0)
      }
    })

    it('lists coupons that take off a percentage or an amount', async () => {
      const { catalog } = (await openContractTestAccount(create)).gateway
      const { entries } = (await catalog?.listCoupons(FIRST)) ?? { entries: [] }
      for (const { percentOff, amountOff } of entries) {
        assert.equal((percentOff === null) === (amountOff === null), false)
      }
    })

    for (const list of ['listPrices', 'listCoupons', 'listPromotionCodes'] as const) {
      it(`reads the same entries page by page, with ${list}()`, async () => {
        const { catalog } = (await openContractTestAccount(create)).gateway
        if (!catalog) return
        const { entries, next } = await catalog[list](FIRST)
        if (next !== null) return
        const found: string[] = []
        let after: string | null = null
        do {
          const page: CatalogPage<{ readonly id: string }> = await catalog[list]({
            limit: 1,
            after,
          })
          found.push(...page.entries.map(({ id }) => id))
          after = page.next
        } while (after !== null)
        assert.deepEqual(
          found,
          entries.map(({ id }) => id),
        )
      })
    }

    it('rejects a page after an entry that does not exist', async () => {
      const { catalog } = (await openContractTestAccount(create)).gateway
      if (!catalog) return
      const gone = { limit: 1, after: 'does-not-exist' }
      assert.equal(await catchErrorCode(() => catalog.listPrices(gone)), 'invalid_argument')
      assert.equal(await catchErrorCode(() => catalog.listCoupons(gone)), 'invalid_argument')
    })
  })
}
