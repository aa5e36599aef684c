import assert from 'node:assert/strict'
import {
  type ContractPart,
  catchErrorCode,
  createCapabilityTests,
} from '../../providers/contract-suite.ts'

/**
 * Contract tests of promotion codes, for gateways that implement `promotionCodes`, in test accounts
 * with a code.
 */
export const definePromotionCodesContract: ContractPart = ({ describe, it }, create) => {
  const onCodes = createCapabilityTests(
    'promotionCodes',
    'for gateways with promotion codes',
    { it },
    create,
    async (_codes, account) => account.promotionCodes,
  )

  describe('a promotion code', () => {
    onCodes('is found case-insensitively, also after it expired', async (part, _account, codes) => {
      const found = await part.find(codes.works, null)
      assert.equal(found?.isActive, true)
      assert.equal(found.discount.coupon, codes.coupon)
      assert.equal((await part.find(codes.works.toLowerCase(), null))?.id, found.id)
      assert.equal((await part.find(codes.isOver, null))?.isActive, false)
      assert.equal(await part.find('no-such-code', null), null)
      assert.equal(await part.find('no code at all!', null), null)
    })

    onCodes('reduces the price once if it is applied twice', async (part, account, codes) => {
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

    onCodes('is refused by the provider after it expired', async (part, account, codes) => {
      const { id } = await account.subscribe()
      const promotionCode = (await part.find(codes.isOver, null))?.id ?? ''
      const code = await catchErrorCode(() => part.apply(id, { promotionCode }))
      assert.equal(code, 'promotion_code_refused')
    })
  })
}
