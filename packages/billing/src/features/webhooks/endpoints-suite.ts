import assert from 'node:assert/strict'
import { type ContractPart, openContractTestAccount } from '../../providers/contract-suite.ts'
import type { VerifiedEvent } from '../../providers/webhook.ts'

const URL = 'https://app.example.com/webhook'

/** Contract tests of webhook endpoints, for gateways that implement `webhookEndpoints`. */
export const defineWebhookEndpointsContract: ContractPart = ({ describe, it }, create) => {
  describe('a webhook endpoint', () => {
    it('can be registered, listed and removed', async () => {
      const { gateway, provider } = await openContractTestAccount(create)
      const { webhookEndpoints } = gateway
      if (!webhookEndpoints) return
      const { events } = provider
      const { id, secret } = await webhookEndpoints.create({ url: URL, events })
      assert.ok(secret.length > 0)
      const found = (await webhookEndpoints.list()).find((each) => each.id === id)
      assert.equal(found?.url, URL)
      assert.deepEqual([...found.events].sort(), [...events].sort())
      assert.equal(found.isEnabled, true)
      assert.equal(found.hasOtherVersion, false)
      for (let times = 0; times < 2; times++) await webhookEndpoints.remove(id)
      assert.equal(
        (await webhookEndpoints.list()).some((each) => each.id === id),
        false,
      )
    })

    it('can be registered separately for events about usage, if the provider has them', async () => {
      const { gateway, provider } = await openContractTestAccount(create)
      const { webhookEndpoints } = gateway
      const { usageEvents: events } = provider
      if (!webhookEndpoints || !events) return
      const { id, secret } = await webhookEndpoints.create({ url: URL, events, payload: 'thin' })
      assert.ok(secret.length > 0)
      const found = (await webhookEndpoints.list()).find((each) => each.id === id)
      assert.equal(found?.payload, 'thin')
      assert.deepEqual([...found.events].sort(), [...events].sort())
      for (let times = 0; times < 2; times++) await webhookEndpoints.remove(id)
      assert.equal(
        (await webhookEndpoints.list()).some((each) => each.id === id),
        false,
      )
    })

    it('is not needed to read past events, if the provider keeps them', async () => {
      const { gateway, subscribe, now } = await openContractTestAccount(create)
      const { webhookEndpoints } = gateway
      if (!webhookEndpoints) return
      const from = now()
      const { id: subscription } = await subscribe()
      const events: VerifiedEvent[] = []
      await webhookEndpoints.eachEvent({ from }, async (event) => void events.push(event))
      const about = await Promise.all(
        events.map(async ({ payload }) => gateway.subjectOf(await gateway.readEvent(payload))),
      )
      assert.ok(about.some(({ subscriptionId }) => subscriptionId === subscription))
      const [first] = events
      const again: VerifiedEvent[] = []
      await webhookEndpoints.eachEvent({ id: first?.id ?? '' }, async (event) => {
        again.push(event)
      })
      assert.deepEqual(again, [first])
      await webhookEndpoints.eachEvent({ id: 'none' }, async () => assert.fail('There is none'))
    })
  })
}
