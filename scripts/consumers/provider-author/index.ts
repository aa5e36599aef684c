// Somebody's own payment provider and its tests: neither an SDK of ours nor the sandbox is installed.
import assert from 'node:assert/strict'
import { type GatewayUnderTest, gatewayContract, startBilling } from '@tollgate/billing/testing'

const titles: string[] = []
const runner = {
  describe(_name: string, body: () => void) {
    body()
  },
  it(name: string) {
    titles.push(name)
  },
}
gatewayContract(runner, async (): Promise<GatewayUnderTest> => {
  throw new Error('Nothing is run here')
})
assert(titles.length > 10)
await assert.rejects(startBilling(), /needs the package "@tollgate\/sandbox"/)
console.log(`${titles.length} tests for a provider`)
