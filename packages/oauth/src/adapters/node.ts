import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeListener as listenTo, type NodeMessage, readHeader } from '@tollgate/http/node'
import type { GuardCredentials } from '../guard/guard.ts'
import type { AuthorizationServer } from '../server.ts'
import type { AdapterOptions } from './options.ts'

export type { AdapterOptions } from './options.ts'

/**
 * For a plain Node server; 404 for addresses that are not ours.
 * @example
 * createServer(nodeListener(oauth)).listen(3000)
 */
export function nodeListener<Message extends IncomingMessage>(
  oauth: Pick<AuthorizationServer, 'handle'>,
  options: AdapterOptions<Message> = {},
): (message: Message, response: ServerResponse) => void {
  return listenTo(oauth, options)
}

/** What a guard reads, without building a Request. */
export function nodeCredentials(message: NodeMessage): GuardCredentials {
  return new NodeCredentials(message)
}

/** Reads what it is asked for: with a token in the header, nobody asks for the cookie. */
class NodeCredentials implements GuardCredentials {
  readonly #message: NodeMessage

  constructor(message: NodeMessage) {
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

  get dpop(): string | null {
    return readHeader(this.#message, 'dpop')
  }

  get method(): string | undefined {
    return this.#message.method
  }

  /** Express cuts off where a router is mounted; the caller has sent all of it. */
  get path(): string {
    const target = this.#message.originalUrl ?? this.#message.url ?? ''
    return target.split('?', 1)[0] ?? ''
  }
}
