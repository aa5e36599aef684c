import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Credentials } from '../guard/guard.ts'
import { fromNodeRequest, readHeader, sendReply } from '../http/node.ts'
import type { AuthorizationServer } from '../server.ts'
import { type AdapterOptions, signedInReader } from './options.ts'

/**
 * For a plain Node server, and what the Express and Fastify adapters stand on.
 * @example
 * createServer(nodeListener(oauth)).listen(3000)
 */
export function nodeListener<Message extends IncomingMessage>(
  oauth: Pick<AuthorizationServer, 'handle' | 'issuer'>,
  options: AdapterOptions<Message> = {},
): (message: Message, response: ServerResponse) => void {
  return async (message, response) => {
    const request = fromNodeRequest(message, oauth.issuer, signedInReader(options, message))
    try {
      sendReply(await oauth.handle(request), response)
    } catch {
      // handle() always answers, so what fails here is the connection.
      response.destroy()
    }
  }
}

/** What a guard reads, without building a Request. */
export function nodeCredentials(message: IncomingMessage): Credentials {
  return new NodeCredentials(message)
}

/** Reads what it is asked for: with a token in the header, nobody asks for the cookie. */
class NodeCredentials implements Credentials {
  readonly #message: IncomingMessage

  constructor(message: IncomingMessage) {
    this.#message = message
  }

  get authorization(): string | null {
    return readHeader(this.#message, 'authorization')
  }

  get cookie(): string | undefined {
    return this.#message.headers.cookie
  }

  get csrfToken(): string | null {
    return readHeader(this.#message, 'x-csrf-token')
  }
}
