import assert from 'node:assert/strict'
import {
  type ContractPart,
  createOperationId,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'

/** Contract tests of subscription metadata, for gateways whose provider stores it. */
export const defineMetadataContract: ContractPart = ({ describe, it }, create) => {
  describe('metadata of a subscription', () => {
    it('is stored once, even when the call is repeated', async () => {
      const { gateway, subscribe, read } = await openContractTestAccount(create)
      if (!gateway.metadata) return
      const metadata = { campaign: 'spring', order: '7' }
      const operation = createOperationId()
      const { id } = await subscribe({ operation, terms: { metadata } })
      assert.equal((await subscribe({ operation, terms: { metadata } })).id, id)
      assert.deepEqual(await gateway.metadata.read(await read(id)), metadata)
    })

    it('is empty if none was given', async () => {
      const { gateway, subscribe } = await openContractTestAccount(create)
      if (!gateway.metadata) return
      assert.deepEqual(await gateway.metadata.read(await subscribe()), {})
    })
  })
}
