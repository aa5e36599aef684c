import type { Billing, ProviderName } from '@tollgate/billing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceBilling } from '../src/billing.ts'
import { sandboxProviders } from '../src/demo/providers.ts'
import { AccountUnfinished, deleteAccount } from '../src/users/end-account.ts'
import { createAccountHelpers, PROVIDERS } from './accounts.ts'
import { startTestService, type TestService, testConfig } from './support.ts'

let service: TestService
let billing: Billing
beforeAll(async () => {
  service = await startTestService({ options: { keepDemo: true } })
  billing = await billingWithoutRetries()
  return () => billing.close()
})
afterAll(() => service.stop())

/** Billing without retries: an SDK would repeat a failed call, and wait before. */
async function billingWithoutRetries(): Promise<Billing> {
  const { sandbox, database, logger } = service
  if (!sandbox) throw new Error('There is no sandbox')
  const { config, remove } = await testConfig()
  await remove()
  const { stripe, braintree } = sandboxProviders(sandbox, 'whsec_unused', 'usd')
  if (!stripe || !braintree) throw new Error('A provider is missing')
  const once = { ...stripe, config: { ...stripe.config, maxNetworkRetries: 0 } }
  const providers = { stripe: once, braintree }
  const { clock } = sandbox
  return createServiceBilling({ config, database, providers, clock, logger, background: false })
}

describe('the deletion of an account with two subscriptions', () => {
  /** Tries to delete the account. Returns the error, or `undefined`. */
  async function attempt(id: string): Promise<unknown> {
    const access = { rows: async () => billing, provider: async () => billing }
    const account = await service.users.findAccount(id)
    if (!account) throw new Error('The account is gone')
    return deleteAccount(service, access, account, { choice: 'now' }).then(
      () => undefined,
      (error: unknown) => error,
    )
  }

  async function interruptAfter(provider: ProviderName, calls: number): Promise<boolean> {
    const { customer, canSignIn, exists, renewing } = createAccountHelpers(service)
    const { trouble } = service.sandbox ?? {}
    const ada = await customer(provider, ['pro', 'yearly'])
    if (calls > 0) trouble?.failNext(calls, { slowMs: 0 }, provider)
    trouble?.failNext(100, '500', provider)
    const error = await attempt(ada.id)
    trouble?.clear()
    if (error) {
      // Before the lock nothing was changed; after it the error says that the account is locked.
      expect(await canSignIn(ada.email)).toBe(!(error instanceof AccountUnfinished))
      expect(await attempt(ada.id), `after call ${calls}`).toBeUndefined()
    }
    expect([await exists(ada.id), renewing(provider, ada.customerId)]).toEqual([false, 0])
    return error !== undefined
  }

  it.each(PROVIDERS)(
    'is completed by a second attempt if %s becomes unavailable in the first attempt, whichever call fails (threat Q4)',
    async (provider) => {
      let calls = 0
      while (await interruptAfter(provider, calls)) calls += 1
      expect(calls).toBeGreaterThan(10)
    },
  )
})
