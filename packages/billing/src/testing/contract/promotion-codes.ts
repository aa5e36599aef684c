import assert from 'node:assert/strict'
import type { PromotionCodes } from '../../gateways/contract/parts/money/promotion-codes.ts'
import {
  type Account,
  type ContractPart,
  codeOf,
  type GatewayUnderTest,
  openAccount,
} from './part.ts'

type Codes = NonNullable<GatewayUnderTest['promotionCodes']>

/** Codes that people type, where the provider has them and the account says which. */
export const promotionCodesContract: ContractPart = ({ describe, it }, create) => {
  const onCodes = (
    name: string,
    body: (part: PromotionCodes, account: Account, codes: Codes) => Promise<void>,
  ) =>
    it(`${name}, where there are codes`, async () => {
      const account = await openAccount(create)
      const { promotionCodes: part } = account.gateway
      const { promotionCodes: codes } = account
      if (part && codes) await body(part, account, codes)
    })

  describe('a promotion code', () => {
    onCodes('is found as it is typed, also when it is over', async (part, _account, codes) => {
      const found = await part.find(codes.works, null)
      assert.equal(found?.isActive, true)
      assert.equal(found.discount.coupon, codes.coupon)
      assert.equal((await part.find(codes.works.toLowerCase(), null))?.id, found.id)
      assert.equal((await part.find(codes.isOver, null))?.isActive, false)
      assert.equal(await part.find('no-such-code', null), null)
      assert.equal(await part.find('no code at all!', null), null)
    })

    onCodes('takes off once what it is applied for twice', async (part, account, codes) => {
      const { id } = await account.subscribe()
      const promotionCode = (await part.find(codes.works, null))?.id ?? ''
      for (let times = 0; times < 2; times++) await part.apply(id, { promotionCode })
      const taken = await account.gateway.findDiscounts(id)
      assert.deepEqual(
        taken.map(({ coupon }) => coupon),
        [codes.coupon],
      )
      for (let times = 0; times < 2; times++) await part.removeAll(id)
      assert.deepEqual(await account.gateway.findDiscounts(id), [])
    })

    onCodes('that is over is refused by the provider', async (part, account, codes) => {
      const { id } = await account.subscribe()
      const promotionCode = (await part.find(codes.isOver, null))?.id ?? ''
      const code = await codeOf(() => part.apply(id, { promotionCode }))
      assert.equal(code, 'promotion_code_refused')
    })
  })
}
