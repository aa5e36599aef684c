import { describe, expect, it } from 'vitest'
import { createProviders } from './create-providers.ts'
import type { Gateway } from './providers/gateway.ts'
import type { Provider } from './providers/provider.ts'

const stripe = { secret: 'sk_test_1', webhookSecret: 'whsec_1' }

describe('createProviders()', () => {
  it('connects to a provider only once, unless the first attempt failed', async () => {
    let attempts = 0
    const provider: Provider = {
      name: 'braintree',
      webhookPath: '/there',
      events: [],
      statuses: {},
      can: [],
      async connect() {
        attempts += 1
        if (attempts === 1) throw new Error('The network is away')
        return { name: 'braintree' } as Gateway
      },
    }
    const { gateway } = createProviders({ providers: [provider] })
    await expect(gateway('braintree')).rejects.toThrow('The network is away')
    expect(await gateway('braintree')).toBe(await gateway('braintree'))
    expect(attempts).toBe(2)
  })

  it("knows the meaning of Stripe's and Braintree's statuses even if these providers are no longer configured", () => {
    const { standing, find } = createProviders({ stripe })
    expect(find('braintree')).toBeNull()
    expect(standing('braintree', 'Past Due')).toBe('past_due')
    expect(standing('stripe', 'Past Due')).toBe('open')
    expect(standing('stripe', 'toString')).toBe('open')
  })

  it('rejects two providers with the same name', () => {
    const [provider] = createProviders({ stripe }).all
    const providers = provider ? [provider] : []
    expect(() => createProviders({ stripe, providers })).toThrow('the same name')
  })
})
