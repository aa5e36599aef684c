import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { equalSecrets, hmac, type MacKey, randomSecret, sha256 } from '../crypto.ts'
import { CsrfMismatch, InvalidRequest, isOAuthError, type OAuthError } from '../errors.ts'
import type { Interaction } from '../storage/records.ts'
import type { Person } from '../users/users.ts'
import type { ReceivedRequest } from './expand-request.ts'
import type { AuthorizationRequest } from './request.ts'
import { withTicket } from './single-answer.ts'

const INTERACTION = 'interaction'
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
  if (!theirs) throw new ScreenExpired()
  const accepted = csrfTokens(interaction, context)
  if (!accepted.some((text) => equalSecrets(csrfToken ?? '', text))) {
    throw new CsrfMismatch('The form does not carry the token of the page it came from.')
  }
  if (interaction.decidedAt) throw answered()
  if (interaction.expiresAt <= context.options.clock.now()) throw new ScreenExpired()
  return interaction
}

/** The first is for new pages; those of a page from before the secret was changed are good as well. */
function csrfTokens(interaction: Interaction, { keyring }: ServerContext): string[] {
  const { hash, userId, sessionId } = interaction
  const tokenOf = (key: MacKey) => hmac(key, [hash, userId, sessionId].join('\n'))
  return keyring.macKeys('approval forms').map(tokenOf)
}

/** Nobody has decided yet, but not by this screen any more: the error page leads to a new one. */
export class ScreenExpired extends InvalidRequest {
  constructor() {
    super('This page has waited too long, or you have signed in again since it was shown', {
      hint: 'Nothing was decided yet',
    })
  }
}

/** Asking again would not help: the application waits for no second answer. */
export function answered(): InvalidRequest {
  return new InvalidRequest('This request was answered before, or has waited too long', {
    hint: 'Go back to the application and start again',
  })
}

/** Where the buttons of a screen are posted to. It says the request too, so a screen that is too old leads to a new one. */
export function screenAddress(
  path: string,
  { id }: PendingDecision,
  request: ReadonlyMap<string, string>,
): string {
  const rest = [...request].filter(([name]) => name !== INTERACTION)
  return `${path}?${new URLSearchParams([[INTERACTION, id], ...rest])}`
}

/**
 * Where the question of a form is asked once more that could not be taken: the person has signed out meanwhile, or in
 * again, or the page was left open. A link for them to follow and nothing else, as any site could show one. Null
 * where asking again would not help.
 */
export function findScreenAgain(
  error: OAuthError,
  { method, path, query }: Pick<HttpRequest, 'method' | 'path' | 'query'>,
  { options: { basePath } }: ServerContext,
): string | null {
  const tooOld =
    isOAuthError(error, 'unauthenticated') ||
    isOAuthError(error, 'csrf_mismatch') ||
    error instanceof ScreenExpired
  if (method !== 'POST' || !tooOld) return null
  const request = new URLSearchParams(query)
  request.delete(INTERACTION)
  if (request.size > 0) return `${path}?${request}`
  return path === `${basePath}/authorize` ? null : path
}
