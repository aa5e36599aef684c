import { answeredBefore } from '../../authorization/single-answer.ts'
import { clientIdOf } from '../../clients/client.ts'
import { openRequestShare } from '../../clients/request-share.ts'
import type { ServerContext } from '../../context.ts'
import { randomSecret } from '../../crypto.ts'
import { InvalidRequest } from '../../errors.ts'
import type { Form } from '../../http/form.ts'
import { rates, shares } from '../../limits/policies.ts'
import type { Client } from '../../storage/records.ts'
import { ticketHash } from '../../storage/ticket-hash.ts'
import type { ExpandedRequest } from '../feature.ts'
import { knownParameters } from './known-parameters.ts'

/** RFC 9126 §2.2. */
export const REQUEST_URI = 'urn:ietf:params:oauth:request_uri:'

const KIND = 'pushed request'
const POLICY = { rate: rates.pushedRequests, share: shares.pushedRequests }
/** Long enough for every honest request: browsers and proxies take no longer address either. */
const LONGEST_CONTENT = 8000
/** For a person who has been shown something: to sign in, to read, to load the page again. */
const TIME_TO_DECIDE = 60 * 60_000

interface PushedRequest {
  readonly client: Client
  readonly params: Form
  readonly expandedBy: readonly string[]
}

interface Content {
  readonly clientId: string
  readonly params: readonly (readonly [name: string, value: string])[]
  readonly expandedBy: readonly string[]
  /** Whether the person came: the ticket's end was put off then. */
  readonly came: boolean
}

/** Gives its name, which is not stored. It ends when the person has not come in time. */
export async function storePushed(
  { client, params, expandedBy }: PushedRequest,
  seconds: number,
  context: ServerContext,
): Promise<string> {
  const uri = `${REQUEST_URI}${randomSecret()}`
  const known = [...knownParameters(params, context)]
  const content: Content = {
    clientId: clientIdOf(client),
    params: known,
    expandedBy,
    came: false,
  }
  const text = JSON.stringify(content)
  if (text.length > LONGEST_CONTENT) {
    throw new InvalidRequest(`The request is longer than ${LONGEST_CONTENT} characters`)
  }
  const add = await openRequestShare(client, POLICY, context)
  const expiresAt = new Date(context.clock.now().getTime() + seconds * 1000)
  await add({ hash: ticketHash(KIND, uri), kind: KIND, content: text, expiresAt })
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
  if (content.clientId !== clientId) throw answeredBefore()
  return {
    params: new Map(content.params),
    expandedBy: content.expandedBy,
    ticket: ticket.hash,
    async keep() {
      if (!content.came) {
        const after = JSON.stringify({ ...content, came: true } satisfies Content)
        const expiresAt = new Date(now.getTime() + TIME_TO_DECIDE)
        await storage.tickets.change(ticket.hash, ticket.content, after, { expiresAt })
      }
      return {}
    },
  }
}
