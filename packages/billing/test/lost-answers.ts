import http from 'node:http'
import type { Billing, ProviderName } from '../src/index.ts'
import type { BillingTest } from '../src/testing/index.ts'

export type LostResponseKind = 'timeout' | 'half-written'

export const LOSSES: readonly LostResponseKind[] = ['timeout', 'half-written']

/** Creates a billing whose requests `loseResponse` can abort. The requests' own timeouts are long. */
export function createImpatientBilling(
  { sandbox, another }: BillingTest,
  maxNetworkRetries = 0,
): Billing {
  return another({
    stripe: {
      secret: sandbox.stripe.apiKey,
      webhookSecret: 'whsec_unused',
      config: { ...sandbox.stripe.config, maxNetworkRetries, httpAgent: http.globalAgent },
    },
  })
}

/**
 * Loses the response of one request, after `after` others succeeded. The request takes effect; then
 * it times out at the moment at which the provider has finished, regardless of the machine's speed.
 */
export function loseResponse(
  { sandbox }: BillingTest,
  provider: ProviderName,
  { after, how }: { readonly after: number; readonly how: LostResponseKind },
): void {
  const { trouble } = sandbox
  if (after > 0) trouble.failNext(after, { slowMs: 0 }, provider)
  trouble.failNext(1, how === 'timeout' ? 'held' : how, provider)
  if (how !== 'timeout') return
  const { port } =
    provider === 'stripe' ? sandbox.stripe.config : sandbox.braintree.config.environment
  trouble.untilHeld().then(() => endByTimeout(Number(port)))
}

/** Emits `timeout` on all connections to a port, as Node does when a request times out. */
function endByTimeout(port: number): void {
  for (const [address, sockets] of Object.entries(http.globalAgent.sockets)) {
    if (!address.includes(`:${port}:`)) continue
    for (const socket of sockets ?? []) socket.emit('timeout')
  }
}
