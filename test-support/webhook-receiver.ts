import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** A request that arrived, as the receiving application's framework would pass it on. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Answer = (received: Received, response: ServerResponse) => void

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** Value of `webhook-id` of each request, in order. */
  ids(): string[]
  /** Sets the response to further requests. The default is 204. */
  answer(how: Answer | number): void
  close(): Promise<void>
}

/**
 * Starts a webhook receiver on this machine, as another application would run. The caller must
 * close it.
 */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let respond: Answer = (_, response) => void response.writeHead(204).end()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    const { method = '', url: path = '', headers } = request
    const one = { method, path, headers, body }
    received.push(one)
    respond(one, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    received,
    ids: () => received.map(({ headers }) => String(headers['webhook-id'])),
    answer(how) {
      respond = typeof how === 'number' ? (_, response) => void response.writeHead(how).end() : how
    },
    close,
  }
}

/** Verifies a request with the Standard Webhooks library. Throws if the signature is invalid. */
export function verify(secret: string, { headers, body }: Received): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>)
}

export const SECRET = `whsec_${Buffer.alloc(32, 'first').toString('base64')}`
export const OTHER_SECRET = `whsec_${Buffer.alloc(32, 'second').toString('base64')}`
