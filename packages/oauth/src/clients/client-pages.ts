import type { ServerContext } from '../context.ts'
import { ValidationFailed } from '../errors.ts'
import { decodeCursor, encodeCursor } from '../http/page.ts'
import { parsePageLimit } from '../http/page-limit.ts'
import { isPossibleId } from '../storage/possible-id.ts'
import type { Client } from '../storage/records.ts'
import type { ClientPosition } from '../storage/repositories.ts'
import { findClient } from './find.ts'

/** Options of `clients.page()`. */
export interface ClientPageOptions {
  /** Largest number of clients, from 1 to 1000. @default 50 */
  readonly limit?: number
  /** The `next` value of the previous page. @default the first page */
  readonly after?: string | null
  /**
   * A `client_id`, or a part of the name. Upper and lower case of ASCII letters are not
   * distinguished. @default every client
   */
  readonly search?: string
}

/** A part of the list of clients. */
export interface ClientPage {
  /** The clients, oldest first. */
  readonly clients: readonly Client[]
  /**
   * The `after` value for the next page. `null` on the last page. With `search`, a page can have
   * fewer clients than `limit`, or none, although more pages follow.
   */
  readonly next: string | null
}

const MAX_SEARCH_LENGTH = 500

/** Lists a page of clients. See `Clients.page()`. */
export async function listClientPage(
  { limit, after, search }: ClientPageOptions,
  context: ServerContext,
): Promise<ClientPage> {
  const max = parsePageLimit(limit)
  const position = after === undefined || after === null ? null : parsePosition(after)
  const text = parseSearch(search)
  const named = text !== null && position === null ? await findClient(text, context) : null
  if (named) return { clients: [named], next: null }
  const query = { limit: max, after: position, search: text }
  const { clients, next } = await context.storage.clients.page(query)
  return { clients, next: next && encodeCursor({ by: next.createdAt.getTime(), id: next.id }) }
}

function parseSearch(search = ''): string | null {
  const text = search.trim()
  if (text.length > MAX_SEARCH_LENGTH || text.includes('\0') || !text.isWellFormed()) {
    throw new ValidationFailed({
      search: [`The search must be text of at most ${MAX_SEARCH_LENGTH} characters.`],
    })
  }
  return text === '' ? null : text
}

function parsePosition(after: string): ClientPosition {
  const found = decodeCursor(after)
  if (found && Number.isSafeInteger(found.by) && isPossibleId(found.id)) {
    return { createdAt: new Date(Number(found.by)), id: found.id }
  }
  throw new ValidationFailed({ after: ['This is not the `next` value of a page of clients.'] })
}
