import assert from 'node:assert/strict'
import { CAPABILITIES } from '../assemble-features.ts'
import * as SUITES from '../features/contract-suites.ts'
import type { ContractPart } from '../providers/contract-suite.ts'

export type {
  ContractPart as GatewayContract,
  CreateGateway,
  GatewayContractRunner,
  GatewayUnderTest,
} from '../providers/contract-suite.ts'

/**
 * Contract tests for a payment provider of your own. Pass `describe` and `it` of your test runner,
 * and a `create` that returns the provider with an empty test account each time.
 * @example
 * import { gatewayContract } from '@tollgate/billing/testing'
 * import { describe, it } from 'vitest'
 *
 * gatewayContract({ describe, it }, async () => ({ provider: paddle(testOptions), prices, … }))
 */
export const gatewayContract: ContractPart = (runner, create) => {
  providerContract(runner, create)
  for (const suite of Object.values(SUITES)) suite(runner, create)
}

/** Tests that the declared properties of the provider match its gateway. */
const providerContract: ContractPart = ({ describe, it }, create) => {
  describe('the provider', () => {
    it('has the same name as its gateway, and a valid webhook path', async () => {
      const { provider } = await create()
      assert.equal((await provider.connect()).name, provider.name)
      assert.match(provider.webhookPath, /^(\/[\w-]+)+$/)
      assert.match(provider.name, /^[\w-]{1,64}$/)
    })

    it('has exactly the capabilities that it declares', async () => {
      const { provider } = await create()
      const gateway = await provider.connect()
      const parts = CAPABILITIES.filter((name) => gateway[name])
      assert.deepEqual(parts.sort(), [...provider.can].sort())
    })

    it('reports no missing settings in an account that is set up', async () => {
      const { provider } = await create()
      assert.deepEqual(await (await provider.connect()).check(), [])
    })
  })
}
