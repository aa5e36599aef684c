import type { IncomingMessage, ServerResponse } from 'node:http'
import { fromNodeRequest, sendResponse } from '../node.ts'
import { createNotFoundResponse, type HttpResponse } from '../response.ts'
import {
  createSignedInReader,
  createSignOutFunction,
  type HttpRoutes,
  type MountOptions,
} from '../routes.ts'
import { createAddressReader } from './address.ts'

export { fromNodeRequest, type NodeMessage, readHeader, sendResponse } from '../node.ts'

/**
 * Mounts the routes as the listener of a plain Node server. Requests for other paths get a 404.
 * @example
 * ```ts
 * createServer(nodeListener(routes)).listen(3000)
 * ```
 */
export function nodeListener<Message extends IncomingMessage>(
  routes: Pick<HttpRoutes, 'handle'>,
  options: MountOptions<Message> = {},
): (message: Message, response: ServerResponse) => void {
  return (message, response) => {
    const pending = routes.handle(
      fromNodeRequest(
        message,
        createSignedInReader(options, message),
        createSignOutFunction(options, message),
        createAddressReader(options, message, () => message.socket.remoteAddress),
      ),
    )
    if (pending) void sendWhenReady(pending, response)
    else sendResponse(createNotFoundResponse(), response)
  }
}

/**
 * Sends the response once it is ready. The routes never reject, so a failure here concerns the
 * connection only.
 */
export async function sendWhenReady(
  pending: Promise<HttpResponse>,
  response: ServerResponse,
): Promise<void> {
  try {
    sendResponse(await pending, response)
  } catch {
    response.destroy()
  }
}
