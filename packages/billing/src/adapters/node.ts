import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Billing } from '../billing.ts'
import { fromNodeRequest, type NodeMessage, sendReply } from '../http/node.ts'

/**
 * For a plain Node server, and what the Express adapter stands on.
 * @example
 * createServer(nodeListener(billing)).listen(3000)
 */
export function nodeListener(
  billing: Pick<Billing, 'handle'>,
): (message: IncomingMessage, response: ServerResponse) => void {
  return (message, response) => {
    billing
      .handle(fromNodeRequest(message as NodeMessage))
      .then((reply) => sendReply(reply, response))
      // handle() answers for everything but a connection that is gone or a database that is away.
      .catch(() => {
        if (response.headersSent) response.destroy()
        else response.writeHead(503).end()
      })
  }
}
