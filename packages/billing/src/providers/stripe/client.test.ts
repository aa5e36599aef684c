import { expect, it } from 'vitest'
import { loadStripe } from './client.ts'

it("the Stripe SDK is created with billing's default timeout and retries if the options omit them or contain undefined", async () => {
  const said = { secret: 'sk_test_1', webhookSecret: 'whsec_1' }
  const config = { timeout: undefined, maxNetworkRetries: undefined }
  for (const options of [said, { ...said, config }]) {
    const stripe = await loadStripe(options as typeof said)
    expect(stripe.getApiField('timeout')).toBe(30_000)
    expect(stripe.getMaxNetworkRetries()).toBe(2)
  }
})
