import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeListener as listenTo, type NodeMessage, readHeader } from '@tollgate/http/node'
import type { GuardCredentials } from '../guard/guard.ts'
import type { AuthorizationServer } from '../server.ts'
import type { AdapterOptions } from './options.ts'

export type { AdapterOptions } from './options.ts'

/**
 * Creates a request listener for a plain Node.js server. Responds with 404 to requests for other
 * routes.
 * @example
 * ```ts
 * createServer(nodeListener(oauth)).listen(3000)
 * ```
 */
export function nodeListener<Message extends IncomingMessage>(
  oauth: Pick<AuthorizationServer, 'handle'>,
  options: AdapterOptions<Message> = {},
): (message: Message, response: ServerResponse) => void {
  return listenTo(oauth, options)
}

/**
 * Returns the parts of a Node.js request that a guard reads: the credentials, the method and the
 * path. Does not build a `Request` object.
 */
export function readNodeCredentials(message: NodeMessage): GuardCredentials {
  return new NodeCredentials(message)
}

/**
 * The credentials of a Node.js request. Reads a header only when the guard needs it: if there is an
 * Authorization header, the cookie is never read.
 */
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

  /** Express removes the mount path from `url`, but a DPoP proof covers the full path. */
  get path(): string {
    const target = this.#message.originalUrl ?? this.#message.url ?? ''
    return target.split('?', 1)[0] ?? ''
  }
}
