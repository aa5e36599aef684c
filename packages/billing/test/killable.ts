import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from '@tollgate/database'
import braintree from 'braintree'
import { onTestFinished } from 'vitest'
import type { Billing } from '../src/index.ts'
import type { BillingTest } from '../src/testing/index.ts'

export interface Killable {
  readonly billing: Billing
  /** Dies at the n-th step from now: a statement that is not run, or a call whose answer is lost. */
  dieAt(step: number): void
  readonly died: boolean
}

/**
 * Billing on a connection and a network of its own, which stop for good at a chosen step: what a
 * killed process had begun at a provider has happened, and nothing after it does.
 */
export async function startKillable(test: BillingTest, url: string): Promise<Killable> {
  let left = Number.POSITIVE_INFINITY
  const isLast = () => {
    left -= 1
    return left === 0
  }
  const died = () => left <= 0

  const database = await connect(url, {
    onQuery: () => {
      if (died() || isLast()) throw new Error('killed')
    },
  })

  async function proxy(target: string): Promise<number> {
    const { hostname, port } = new URL(target)
    const server = createServer((incoming, outgoing) => {
      if (died()) return void incoming.socket.destroy()
      const lost = isLast()
      const { method, url: path, headers } = incoming
      const onward = forward({ hostname, port, method, path, headers }, (answer) => {
        if (lost) answer.resume().on('end', () => incoming.socket.destroy())
        else answer.pipe(outgoing.writeHead(answer.statusCode ?? 500, answer.headers))
      })
      incoming.pipe(onward)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    return (server.address() as AddressInfo).port
  }

  const { sandbox } = test
  const stripePort = await proxy(sandbox.stripe.url)
  const braintreePort = String(await proxy(sandbox.braintree.url))
  const host = '127.0.0.1'
  const { environment: _environment, ...keys } = sandbox.braintree.config
  const billing = test.another({
    database,
    migrate: false,
    stripe: {
      secret: sandbox.stripe.apiKey,
      webhookSecret: 'whsec_killable',
      config: { ...sandbox.stripe.config, port: stripePort, maxNetworkRetries: 0 },
    },
    braintree: {
      ...keys,
      environment: new braintree.Environment(
        host,
        braintreePort,
        `http://${host}`,
        false,
        host,
        braintreePort,
      ),
    },
  })
  onTestFinished(async () => {
    left = Number.POSITIVE_INFINITY
    await billing.close()
    await database.close()
  })
  return {
    billing,
    dieAt(step) {
      left = step
    },
    get died() {
      return died()
    },
  }
}
