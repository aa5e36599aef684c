import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Credentials } from '../guard/guard.ts'
import { fromNodeRequest, type NodeMessage, readHeader, sendReply } from '../http/node.ts'
import type { AuthorizationServer } from '../server.ts'

/**
 * For a plain Node server, and what the Express and Fastify adapters stand on.
 * @example
 * createServer(nodeListener(oauth)).listen(3000)
 */
export function nodeListener(
  oauth: Pick<AuthorizationServer, 'handle' | 'issuer'>,
): (message: IncomingMessage, response: ServerResponse) => void {
  return (message, response) => {
    oauth
      .handle(fromNodeRequest(message as NodeMessage, oauth.issuer))
      .then((reply) => sendReply(reply, response))
      // handle() always answers, so what fails here is the connection.
      .catch(() => response.destroy())
  }
}

/** What a guard reads, without building a Request. */
export function nodeCredentials(message: IncomingMessage): Credentials {
  return {
    authorization: readHeader(message, 'authorization'),
    cookie: message.headers.cookie,
    csrfToken: readHeader(message, 'x-csrf-token'),
  }
}
