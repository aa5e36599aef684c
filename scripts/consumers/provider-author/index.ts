// Somebody's own payment provider and its tests: no SDK, no driver of a database and no sandbox is installed.
import assert from 'node:assert/strict'
import { type GatewayUnderTest, gatewayContract, startBilling } from '@tollgate/billing/testing'
import { connect, MissingPackage } from '@tollgate/database'

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
const missing = await connect('sqlite::memory:').catch((error: unknown) => error)
assert(missing instanceof MissingPackage && missing.package === 'libsql', String(missing))
console.log(`${titles.length} tests for a provider`)
