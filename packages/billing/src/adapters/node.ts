import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeListener as listenTo } from '@tollgate/http/node'
import type { Billing } from '../billing.ts'

/**
 * Makes a request listener for Node's `http` server. Responds with 404 to paths that are not one of
 * billing's routes.
 * @example
 * import { createServer } from 'node:http'
 * import { nodeListener } from '@tollgate/billing/node'
 *
 * createServer(nodeListener(billing)).listen(3000)
 */
export function nodeListener(
  billing: Pick<Billing, 'handle'>,
): (message: IncomingMessage, response: ServerResponse) => void {
  return listenTo(billing)
}
