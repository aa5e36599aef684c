import { expect, it } from 'vitest'
import { loadStripe } from './client.ts'

it('has our time-out and retries where the configuration says nothing, also by undefined', async () => {
  const said = { secret: 'sk_test_1', webhookSecret: 'whsec_1' }
  const config = { timeout: undefined, maxNetworkRetries: undefined }
  for (const options of [said, { ...said, config }]) {
    const stripe = await loadStripe(options as typeof said)
    expect(stripe.getApiField('timeout')).toBe(30_000)
    expect(stripe.getMaxNetworkRetries()).toBe(2)
  }
})
