import http from 'node:http'
import type { Billing, ProviderName } from '../src/index.ts'
import type { BillingTest } from '../src/testing/index.ts'

export type Loss = 'timeout' | 'half-written'

export const LOSSES: readonly Loss[] = ['timeout', 'half-written']

/** Billing whose calls `loseAnswer` can end; by themselves they wait for long. */
export function hasty({ sandbox, another }: BillingTest, maxNetworkRetries = 0): Billing {
  return another({
    stripe: {
      secret: sandbox.stripe.apiKey,
      webhookSecret: 'whsec_unused',
      config: { ...sandbox.stripe.config, maxNetworkRetries, httpAgent: http.globalAgent },
    },
  })
}

/**
 * The call after so many others takes effect, and its answer does not come. Its time is over at the moment
 * when the provider has done the work, however fast or slow this machine is.
 */
export function loseAnswer(
  { sandbox }: BillingTest,
  provider: ProviderName,
  { after, how }: { readonly after: number; readonly how: Loss },
): void {
  const { trouble } = sandbox
  if (after > 0) trouble.failNext(after, { slowMs: 0 }, provider)
  trouble.failNext(1, how === 'timeout' ? 'held' : how, provider)
  if (how !== 'timeout') return
  const { port } =
    provider === 'stripe' ? sandbox.stripe.config : sandbox.braintree.config.environment
  trouble.untilHeld().then(() => endByTimeout(Number(port)))
}

/** What Node does to a call when its time is over. */
function endByTimeout(port: number): void {
  for (const [address, sockets] of Object.entries(http.globalAgent.sockets)) {
    if (!address.includes(`:${port}:`)) continue
    for (const socket of sockets ?? []) socket.emit('timeout')
  }
}
