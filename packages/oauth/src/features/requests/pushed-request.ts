import { answeredBefore } from '../../authorization/single-answer.ts'
import type { ServerContext } from '../../context.ts'
import { randomSecret } from '../../crypto.ts'
import { InvalidRequest } from '../../errors.ts'
import type { Form } from '../../http/form.ts'
import { ticketHash } from '../../storage/ticket-hash.ts'
import type { ExpandedRequest } from '../feature.ts'

/** RFC 9126 §2.2. */
export const REQUEST_URI = 'urn:ietf:params:oauth:request_uri:'

const KIND = 'pushed request'
/** Long enough for every honest request, short enough for a text column everywhere. */
const LONGEST_CONTENT = 16_000
/** For a person who has been shown something: to sign in, to read, to load the page again. */
const TIME_TO_DECIDE = 60 * 60_000

interface PushedRequest {
  readonly clientId: string
  readonly params: Form
  readonly expandedBy: readonly string[]
}

interface Content {
  readonly clientId: string
  readonly params: readonly (readonly [name: string, value: string])[]
  readonly expandedBy: readonly string[]
  /** By then the person has to come, in milliseconds. Null when they came: then the ticket's own end counts. */
  readonly comeBy: number | null
}

/** Gives its name, which is not stored. */
export async function storePushed(
  { clientId, params, expandedBy }: PushedRequest,
  seconds: number,
  { clock, storage }: ServerContext,
): Promise<string> {
  const uri = `${REQUEST_URI}${randomSecret()}`
  const comeBy = clock.now().getTime() + seconds * 1000
  const content: Content = { clientId, params: [...params], expandedBy, comeBy }
  const text = JSON.stringify(content)
  if (text.length > LONGEST_CONTENT) {
    throw new InvalidRequest(`The request is longer than ${LONGEST_CONTENT} characters`)
  }
  const expiresAt = new Date(comeBy + TIME_TO_DECIDE)
  await storage.tickets.add({ hash: ticketHash(KIND, uri), kind: KIND, content: text, expiresAt })
  return uri
}

/**
 * One error for what is unknown, expired, answered or another client's. It is only read here, and ends with the
 * answer (RFC 9126 §4 lets people load a page again).
 */
export async function findPushed(
  uri: string,
  clientId: string,
  { clock, storage }: ServerContext,
): Promise<ExpandedRequest> {
  const ticket = await storage.tickets.find(ticketHash(KIND, uri))
  const now = clock.now()
  if (!ticket || ticket.expiresAt <= now) throw answeredBefore()
  const content: Content = JSON.parse(ticket.content)
  const { comeBy, params, expandedBy } = content
  const late = comeBy !== null && comeBy <= now.getTime()
  if (content.clientId !== clientId || late) throw answeredBefore()
  return {
    params: new Map(params),
    expandedBy,
    ticket: ticket.hash,
    async keep() {
      if (comeBy !== null) {
        const after: Content = { ...content, comeBy: null }
        await storage.tickets.change(ticket.hash, ticket.content, JSON.stringify(after))
      }
      return {}
    },
  }
}
