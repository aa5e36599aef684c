import assert from 'node:assert/strict'
import {
  type ContractPart,
  catchErrorCode,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'

/**
 * Contract tests of webhooks: verification, storage, and finding the objects that an event is
 * about.
 */
export const defineWebhooksContract: ContractPart = ({ describe, it }, create) => {
  describe('a webhook', () => {
    it('has the same id when it is delivered again', async () => {
      const { gateway, subscribe, webhookAbout } = await openContractTestAccount(create)
      const webhook = await webhookAbout((await subscribe()).id)
      const event = await gateway.verifyWebhook(webhook, new Date())
      assert.equal(event.foreign, false)
      assert.ok(event.id !== '' && event.id.length <= 255)
      assert.equal((await gateway.verifyWebhook(webhook, new Date())).id, event.id)
    })

    it('has a known event type, and names its subscription', async () => {
      const { gateway, provider, subscribe, webhookAbout } = await openContractTestAccount(create)
      const { id } = await subscribe()
      const { type, payload } = await gateway.verifyWebhook(await webhookAbout(id), new Date())
      assert.ok(provider.events.includes(type), `${type} is not one of the provider's events`)
      const subject = gateway.subjectOf(await gateway.readEvent(payload))
      assert.equal(subject.subscriptionId, id)
      assert.equal(subject.customerDeleted, false)
    })

    it('is rejected if it was changed or is not signed', async () => {
      const { gateway, subscribe, webhookAbout } = await openContractTestAccount(create)
      const { body, header } = await webhookAbout((await subscribe()).id)
      // One changed character in the middle, in any encoding.
      const at = Math.floor(body.length / 2)
      const changed = `${body.slice(0, at)}${body[at] === 'A' ? 'B' : 'A'}${body.slice(at + 1)}`
      const forged = { body: changed, header }
      assert.equal(
        await catchErrorCode(() => gateway.verifyWebhook(forged, new Date())),
        'invalid_signature',
      )
      const empty = { body: '{}', header: () => null }
      assert.equal(
        await catchErrorCode(() => gateway.verifyWebhook(empty, new Date())),
        'invalid_signature',
      )
    })
  })
}
