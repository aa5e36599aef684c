import { deriveDocumentClientId } from '../clients/client.ts'
import type { ServerContext } from '../context.ts'
import { ValidationFailed } from '../errors.ts'
import { parsePageLimit } from '../http/page-limit.ts'
import { isPossibleId } from '../storage/possible-id.ts'
import type { Token } from '../storage/records.ts'

/** Options of `tokens.page()`. */
export interface TokenPageOptions {
  /** The user whose tokens are listed. @default tokens of all users and of clients */
  readonly userId?: string | number
  /** The client whose tokens are listed. @default tokens of all clients */
  readonly clientId?: string
  /** Largest number of tokens, from 1 to 1000. @default 50 */
  readonly limit?: number
  /** The `next` of the previous page. @default the first page */
  readonly after?: string | null
}

/** A part of the list of valid tokens. */
export interface TokenPage {
  /** The tokens, newest first: in the order of their ids, which begin with the time. */
  readonly tokens: readonly Token[]
  /** The `after` of the next page. `null` on the last page. */
  readonly next: string | null
}

/** Lists a page of tokens that are neither revoked nor expired. */
export async function listTokenPage(
  { userId, clientId, limit, after = null }: TokenPageOptions,
  { storage, providers, clock }: ServerContext,
): Promise<TokenPage> {
  const max = parsePageLimit(limit)
  if (after !== null && !isPossibleId(after)) {
    throw new ValidationFailed({ after: ['This is not the `next` value of a page of tokens.'] })
  }
  const client = clientId?.startsWith('https://')
    ? deriveDocumentClientId(clientId)
    : (clientId ?? null)
  if (client !== null && !isPossibleId(client)) return { tokens: [], next: null }
  const found = await storage.tokens.page({
    userId: userId === undefined ? null : providers.require(userId),
    clientId: client,
    at: clock.now(),
    limit: max + 1,
    after,
  })
  const tokens = found.slice(0, max)
  return { tokens, next: found.length > max ? (tokens.at(-1)?.id ?? null) : null }
}
