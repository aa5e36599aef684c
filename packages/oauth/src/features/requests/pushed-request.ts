import { createRequestGoneError } from '../../authorization/request-ticket.ts'
import { getPublicClientId } from '../../clients/client.ts'
import { openRequestQuota } from '../../clients/request-share.ts'
import type { ServerContext } from '../../context.ts'
import { createRandomSecret } from '../../crypto.ts'
import { InvalidRequest } from '../../errors.ts'
import type { Form } from '../../http/form.ts'
import { requestRates, ticketQuotas } from '../../limits/policies.ts'
import type { Client } from '../../storage/records.ts'
import { hashTicketName } from '../../storage/tickets.ts'
import type { ExpandedRequest } from '../feature.ts'

/** Prefix of request URIs (RFC 9126 §2.2). */
export const REQUEST_URI_PREFIX = 'urn:ietf:params:oauth:request_uri:'

const KIND = 'pushed request'
const POLICY = { rate: requestRates.pushedRequests, share: ticketQuotas.pushedRequests }
/** Longest stored request. Browsers and proxies do not accept longer URLs either. */
const MAX_CONTENT_LENGTH = 8000
/** Time in milliseconds for a person who has been shown a page: to sign in, to read, to reload. */
const TIME_TO_DECIDE = 60 * 60_000

interface PushedRequest {
  readonly client: Client
  readonly params: Form
  readonly expandedBy: readonly string[]
}

interface StoredPushedRequest {
  readonly clientId: string
  readonly params: readonly (readonly [name: string, value: string])[]
  readonly expandedBy: readonly string[]
  /** Whether the person has opened the request, which extended its lifetime. */
  readonly came: boolean
}

/**
 * Stores a pushed request and returns its request URI, of which only a hash is stored. The request
 * expires after `seconds` unless the person opens it before.
 */
export async function storePushedRequest(
  { client, params, expandedBy }: PushedRequest,
  seconds: number,
  context: ServerContext,
): Promise<string> {
  const uri = `${REQUEST_URI_PREFIX}${createRandomSecret()}`
  const known = [...knownParameters(params, context)]
  const content: StoredPushedRequest = {
    clientId: getPublicClientId(client),
    params: known,
    expandedBy,
    came: false,
  }
  const text = JSON.stringify(content)
  if (text.length > MAX_CONTENT_LENGTH) {
    throw new InvalidRequest(`The request is longer than ${MAX_CONTENT_LENGTH} characters`)
  }
  const add = await openRequestQuota(client, POLICY, context)
  const expiresAt = new Date(context.clock.now().getTime() + seconds * 1000)
  await add({ hash: hashTicketName(KIND, uri), kind: KIND, content: text, expiresAt })
  return uri
}

/**
 * Finds a pushed request by its request URI. Finding it does not consume it, because people may
 * reload the page (RFC 9126 §4); sending the response does.
 * @throws InvalidRequestUri if the request is unknown, expired or already answered, or belongs to
 * another client
 */
export async function findPushedRequest(
  uri: string,
  clientId: string,
  { clock, storage }: ServerContext,
): Promise<ExpandedRequest> {
  const ticket = await storage.tickets.find(hashTicketName(KIND, uri))
  const now = clock.now()
  if (!ticket || ticket.expiresAt <= now) throw createRequestGoneError()
  const content: StoredPushedRequest = JSON.parse(ticket.content)
  if (content.clientId !== clientId) throw createRequestGoneError()
  return {
    params: new Map(content.params),
    expandedBy: content.expandedBy,
    ticket: ticket.hash,
    async keep() {
      if (!content.came) {
        const after = JSON.stringify({ ...content, came: true } satisfies StoredPushedRequest)
        const expiresAt = new Date(now.getTime() + TIME_TO_DECIDE)
        await storage.tickets.change(ticket.hash, ticket.content, after, { expiresAt })
      }
      return {}
    },
  }
}

/** Authorization request parameters that the server itself reads. */
const SERVER_PARAMETERS: readonly string[] = [
  'client_id',
  'code_challenge',
  'code_challenge_method',
  'login_hint',
  'max_age',
  'prompt',
  'redirect_uri',
  'resource',
  'response_mode',
  'response_type',
  'scope',
  'state',
  'ui_locales',
]

/** Drops unknown parameters, which have no effect (RFC 6749 §3.1) and need not be stored. */
function knownParameters(params: Form, { features }: ServerContext): Form {
  const known = new Set([
    ...SERVER_PARAMETERS,
    ...features.all.flatMap((each) => each.requestParameters ?? []),
  ])
  return new Map([...params].filter(([name]) => known.has(name)))
}
