import type { ServerContext } from '../context.ts'
import { equalSecrets, hmac, type MacKey, randomSecret, sha256 } from '../crypto.ts'
import { CsrfMismatch, InvalidRequest } from '../errors.ts'
import type { Interaction } from '../storage/records.ts'
import type { Person } from '../users/users.ts'
import type { ReceivedRequest } from './expand-request.ts'
import type { AuthorizationRequest } from './request.ts'
import { withTicket } from './single-answer.ts'

const INTERACTION_LIFETIME = 10 * 60_000
/** Open tabs of one person; older ones are dropped so that nobody can fill the table. */
const MOST_PENDING = 50

export interface PendingDecision {
  readonly id: string
  readonly csrfToken: string
}

/** What of a request is kept while a person decides. */
export interface AskedFor
  extends Pick<
    AuthorizationRequest,
    'client' | 'redirectTo' | 'redirectUri' | 'scopes' | 'state' | 'codeChallenge' | 'details'
  > {
  readonly response: Pick<AuthorizationRequest['response'], 'type'>
  readonly received: Pick<ReceivedRequest, 'ticket'>
}

/** A record of its own for each request, named in the URL, so that two tabs do not mix. */
export async function openInteraction(
  request: AskedFor,
  person: Person,
  context: ServerContext,
): Promise<PendingDecision> {
  const id = randomSecret()
  const now = context.options.clock.now()
  const interaction: Interaction = {
    hash: sha256(id),
    clientId: request.client.id,
    userId: person.id,
    sessionId: person.sessionId,
    responseType: request.response.type,
    redirectTo: request.redirectTo,
    redirectUri: request.redirectUri,
    scopes: request.scopes,
    state: request.state,
    codeChallenge: request.codeChallenge,
    createdAt: now,
    expiresAt: new Date(now.getTime() + INTERACTION_LIFETIME),
    decidedAt: null,
    details: withTicket(request.details, request.received.ticket),
  }
  await context.storage.interactions.create(interaction, MOST_PENDING)
  return { id, csrfToken: csrfTokens(interaction, context)[0] ?? '' }
}

/** Only the person and session it was shown to may decide, and only from our own page. */
export async function requireInteraction(
  id: string,
  csrfToken: string | null,
  person: Person,
  context: ServerContext,
): Promise<Interaction> {
  const interaction = await context.storage.interactions.find(sha256(id))
  const theirs = interaction?.userId === person.id && interaction.sessionId === person.sessionId
  if (!theirs) throw expired()
  const accepted = csrfTokens(interaction, context)
  if (!accepted.some((text) => equalSecrets(csrfToken ?? '', text))) {
    throw new CsrfMismatch('The form does not carry the token of the page it came from.')
  }
  if (interaction.decidedAt || interaction.expiresAt <= context.options.clock.now()) throw expired()
  return interaction
}

/** The first is for new pages; those of a page from before the secret was changed are good as well. */
function csrfTokens(interaction: Interaction, { keyring }: ServerContext): string[] {
  const { hash, userId, sessionId } = interaction
  const tokenOf = (key: MacKey) => hmac(key, [hash, userId, sessionId].join('\n'))
  return keyring.macKeys('approval forms').map(tokenOf)
}

export function expired(): InvalidRequest {
  return new InvalidRequest('This request was answered before, or has waited too long', {
    hint: 'Go back to the application and start again',
  })
}
