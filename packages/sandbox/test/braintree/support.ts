import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import braintree from 'braintree'
import { afterEach } from 'vitest'
import type { BraintreeHandle } from '../../src/braintree/server/handle.ts'
import type { BraintreeOptions } from '../../src/braintree/server/options.ts'
import { startBraintree } from '../../src/braintree/server/server.ts'
import { MovableClock } from '../../src/core/clock/clock.ts'
import { FailedJobs } from '../../src/core/clock/failed-jobs.ts'
import { WebhookOutbox } from '../../src/core/outbox.ts'
import { SandboxStore } from '../../src/core/store/store.ts'
import { FailureSimulator } from '../../src/core/trouble.ts'

export interface Merchant {
  readonly clock: MovableClock
  readonly store: SandboxStore
  readonly outbox: WebhookOutbox
  readonly trouble: FailureSimulator
  readonly failures: FailedJobs
  readonly sandbox: BraintreeHandle
  readonly gateway: braintree.BraintreeGateway
}

const closing: Array<() => unknown> = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/**
 * Starts a sandbox whose Braintree merchant has the plans `monthly` (10.00), `pro` (20.00) and
 * `yearly` (100.00), and some discounts.
 */
export async function startMerchant(
  options: BraintreeOptions & { now?: string } = {},
): Promise<Merchant> {
  const clock = new MovableClock(new Date(options.now ?? '2026-01-15T10:00:00Z'))
  const store = new SandboxStore()
  const outbox = new WebhookOutbox({ clock, store })
  const trouble = new FailureSimulator(store)
  const failures = new FailedJobs({ store })
  const sandbox = await startBraintree({ clock, store, outbox, trouble, failures }, options)
  closing.push(async () => {
    outbox.close()
    await sandbox.close()
  })
  sandbox.defineDiscount({ id: 'plan-credit', amount: 0, numberOfBillingCycles: 1 })
  sandbox.defineDiscount({ id: 'spring', amount: 300, numberOfBillingCycles: 2 })
  sandbox.defineDiscount({ id: 'loyal', amount: 100 })
  sandbox.defineAddOn({ id: 'seats', amount: 500 })
  sandbox.definePlan({ id: 'monthly', name: 'Monthly', price: 1000 })
  sandbox.definePlan({ id: 'pro', price: 2000 })
  sandbox.definePlan({ id: 'yearly', price: 10000, billingFrequency: 12 })
  sandbox.definePlan({ id: 'trial', price: 1000, trial: { duration: 14, unit: 'day' } })
  const gateway = new braintree.BraintreeGateway(sandbox.config)
  return { clock, store, outbox, trouble, failures, sandbox, gateway }
}

/** Creates a customer with a card and returns the customer id and the card's token. */
export async function addCustomer(
  { gateway }: Merchant,
  nonce = 'fake-valid-nonce',
): Promise<{ customerId: string; token: string }> {
  const { customer } = await gateway.customer.create({
    firstName: 'Ada',
    lastName: 'Lovelace',
    email: 'ada@example.com',
    paymentMethodNonce: nonce,
  })
  return { customerId: customer.id, token: customer.paymentMethods?.[0]?.token ?? '' }
}

/** Returns the error codes of a rejected call in the SDK's order. */
export function codesOf(result: unknown): string[] {
  const { success, errors } = result as {
    success: boolean
    errors: { deepErrors(): Array<{ code: string }> }
  }
  return success ? [] : errors.deepErrors().map((error) => error.code)
}

/** Collects the records that a search streams. */
export async function collect<T>(stream: NodeJS.ReadableStream): Promise<T[]> {
  const found: T[] = []
  for await (const item of stream) found.push(item as unknown as T)
  return found
}

export interface Received {
  readonly kind: string
  readonly timestamp: string
  readonly notification: braintree.WebhookNotification
}

/** Starts a receiver that answers challenges and records notifications, parsed by the SDK. */
export async function listen(merchant: Merchant): Promise<{ url: string; received: Received[] }> {
  const { gateway } = merchant
  const received: Received[] = []
  const server = createServer((request, response) => {
    const target = new URL(request.url ?? '/', 'http://localhost')
    const challenge = target.searchParams.get('bt_challenge')
    if (challenge) {
      // A synchronous function that @types/braintree lacks.
      const { webhookNotification } = gateway as unknown as {
        webhookNotification: { verify(challenge: string): string }
      }
      response.end(webhookNotification.verify(challenge))
      return
    }
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', async () => {
      const form = new URLSearchParams(body)
      try {
        const notification = await gateway.webhookNotification.parse(
          form.get('bt_signature') ?? '',
          form.get('bt_payload') ?? '',
        )
        const { kind, timestamp } = notification
        received.push({ kind, timestamp: String(timestamp), notification })
        response.end()
      } catch {
        response.writeHead(400).end()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  )
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/webhook`, received }
}
