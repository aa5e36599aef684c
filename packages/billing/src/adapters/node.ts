import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeListener as listenTo } from '@tollgate/http/node'
import type { Billing } from '../billing.ts'

/**
 * For a plain Node server; 404 for addresses that are not ours.
 * @example
 * createServer(nodeListener(billing)).listen(3000)
 */
export function nodeListener(
  billing: Pick<Billing, 'handle'>,
): (message: IncomingMessage, response: ServerResponse) => void {
  return listenTo(billing)
}
