import assert from 'node:assert/strict'
import {
  type ContractPart,
  createCapabilityTests,
  daysFromNow,
} from '../../providers/contract-suite.ts'

/** Contract tests of paused subscriptions, for gateways that implement `pauses`. */
export const definePausesContract: ContractPart = ({ describe, it }, create) => {
  const onPauses = createCapabilityTests('pauses', 'for gateways with pauses', { it }, create)

  describe('a pause', () => {
    onPauses('has the settings of the last request', async (pauses, account) => {
      const { id, price, status } = await account.subscribe()
      const until = daysFromNow(account, 50)
      for (const pause of [
        { until: null, bills: 'void' },
        { until, bills: 'keep_as_draft' },
        { until, bills: 'mark_uncollectible' },
        { until: null, bills: 'void' },
      ] as const) {
        for (let i = 0; i < 2; i++) await pauses.pause(id, pause)
        const found = await account.read(id)
        assert.deepEqual([found.pause, found.price, found.endsAt], [pause, price, null])
      }
      for (let i = 0; i < 2; i++) await pauses.unpause(id)
      const found = await account.read(id)
      assert.deepEqual([found.pause, found.status], [null, status])
    })
  })
}
