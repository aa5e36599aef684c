import assert from 'node:assert/strict'
import type { Capability } from '../../gateways/contract/parts.ts'
import type { ContractPart } from './part.ts'

/** Every part that there is; the compiler looks that none is missing. */
const CAPABILITIES: Readonly<Record<Capability, true>> = {
  quantities: true,
  confirmations: true,
  replacements: true,
  items: true,
  schedules: true,
  pauses: true,
  endDates: true,
  trials: true,
  anchors: true,
  backdating: true,
  freeStarts: true,
  forecasts: true,
  checkout: true,
  portal: true,
  setups: true,
  clientTokens: true,
  paymentMethods: true,
  refunds: true,
  creditNotes: true,
  balance: true,
  invoiceActions: true,
  payments: true,
  promotionCodes: true,
  disputes: true,
  automaticTax: true,
  lineRates: true,
  taxIds: true,
  taxExemptions: true,
  usage: true,
  meteredPrices: true,
  customerDetails: true,
  languages: true,
  lists: true,
  webhookEndpoints: true,
}

/** What a provider says of itself is true. */
export const providerContract: ContractPart = ({ describe, it }, create) => {
  describe('the provider', () => {
    it('has the name of its gateway, and a path of its own', async () => {
      const { provider } = await create()
      assert.equal((await provider.connect()).name, provider.name)
      assert.match(provider.webhookPath, /^(\/[\w-]+)+$/)
      assert.match(provider.name, /^[\w-]{1,64}$/)
    })

    it('has the parts that it says it can, and no others', async () => {
      const { provider } = await create()
      const gateway = await provider.connect()
      const parts = Object.keys(CAPABILITIES).filter((name) => gateway[name as Capability])
      assert.deepEqual(parts.sort(), [...provider.can].sort())
    })

    it('finds nothing missing in an account that is set up', async () => {
      const { provider } = await create()
      assert.deepEqual(await (await provider.connect()).check(), [])
    })
  })
}
