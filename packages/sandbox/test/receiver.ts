import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Receiver {
  readonly url: string
  /** Bodies of the received requests, in order. */
  readonly bodies: string[]
  /** Status of the next responses. */
  status: number
}

/** Starts an application that only receives webhooks. */
export async function startReceiver(): Promise<Receiver> {
  const receiver = { url: '', bodies: [] as string[], status: 200 }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      receiver.bodies.push(Buffer.concat(chunks).toString())
      response.writeHead(receiver.status).end(receiver.status === 200 ? '' : 'out of order')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return receiver
}
