import { Readable } from 'node:stream'
import type { ProviderName } from '@tollgate/billing'
import { runCli } from '../src/program.ts'
import type { TestService } from './support.ts'

export const PASSWORD = 'correct horse'
const CARDS = { stripe: 'pm_card_visa', braintree: 'fake-valid-visa-nonce' } as const
export const PROVIDERS: readonly ProviderName[] = ['stripe', 'braintree']

let people = 0
export const newAddress = (name: string) => `${name}-${++people}@example.com`

/** Creates customers, and runs operator commands on a service. */
export function createAccountHelpers(service: TestService) {
  return {
    /** Runs a command against the service's database and data folder, as a shell would. */
    async tollgate(...args: string[]) {
      const out: string[] = []
      const err: string[] = []
      const environment = {
        DATABASE_URL: service.databaseUrl,
        TOLLGATE_DATA_DIR: service.dataDir,
        TOLLGATE_URL: service.url,
      }
      const code = await runCli(args, environment, {
        stdout: { write: (text) => void out.push(text) },
        stderr: { write: (text) => void err.push(text) },
        stdin: Readable.from(['']) as never,
      })
      return { code, stdout: out.join(''), stderr: err.join('') }
    },
    /**
     * Creates a person who subscribes to these plans, the first as `main`, the others as `extra-1`
     * and so on.
     */
    async customer(provider: ProviderName, plans: readonly string[] = ['pro']) {
      const email = newAddress('customer')
      const { id } = await service.users.create({ email, password: PASSWORD })
      await (await service.billing.user(Number(id))).chooseProvider(provider)
      for (const [at, plan] of plans.entries()) {
        const payer = await service.billing.user(Number(id))
        const name = at === 0 ? 'main' : `extra-${at}`
        await payer.newSubscription(name, plan).create(at === 0 ? CARDS[provider] : null)
      }
      const { providerId } = await service.billing.user(Number(id))
      return { id, email, customerId: providerId ?? '' }
    },
    /** Number of subscriptions that the provider will charge again. */
    renewing(provider: ProviderName, customerId: string): number {
      const { sandbox } = service
      if (provider === 'stripe') {
        const all = sandbox?.stripe.subscriptions(customerId) ?? []
        return all.filter((one) => one.status !== 'canceled' && !one.cancel_at_period_end).length
      }
      const all = sandbox?.braintree.subscriptions(customerId) ?? []
      return all.filter(({ status, neverExpires }) => status !== 'Canceled' && neverExpires).length
    },
    canSignIn: async (email: string) =>
      (await service.browser().signIn(email, PASSWORD)).status === 303,
    exists: async (id: string) => (await service.users.findAccount(id)) !== null,
  }
}
