import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { areSecretsEqual, computeHmac, createRandomSecret, type MacKey, sha256 } from '../crypto.ts'
import { CsrfMismatch, InvalidRequest, isOAuthError, type OAuthError } from '../errors.ts'
import { ENGLISH } from '../pages/messages/messages.ts'
import type { Interaction } from '../storage/records.ts'
import type { Person } from '../users/signed-in.ts'
import type { ReceivedAuthorizationRequest } from './expand-request.ts'
import type { AuthorizationRequest } from './request.ts'
import { addTicketToDetails } from './request-ticket.ts'

const INTERACTION = 'interaction'
const INTERACTION_LIFETIME = 10 * 60_000
/**
 * Maximum number of open approval screens per person. Beyond it the oldest ones are deleted, which
 * limits the size of the table.
 */
const MAX_PENDING = 50

export interface PendingApprovalDecision {
  readonly id: string
  readonly csrfToken: string
}

/**
 * The parts of an authorization request that are stored while the person decides on the approval
 * screen.
 */
export interface PendingAuthorizationRequest
  extends Pick<
    AuthorizationRequest,
    'client' | 'redirectTo' | 'redirectUri' | 'scopes' | 'state' | 'codeChallenge' | 'details'
  > {
  readonly response: Pick<AuthorizationRequest['response'], 'type'>
  readonly received: Pick<ReceivedAuthorizationRequest, 'ticket'>
}

/**
 * Stores an interaction (an open approval screen) for the request. Each interaction has its own id
 * in the URL, so that two tabs do not interfere.
 */
export async function openInteraction(
  request: PendingAuthorizationRequest,
  person: Person,
  context: ServerContext,
): Promise<PendingApprovalDecision> {
  const id = createRandomSecret()
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
    details: addTicketToDetails(request.details, request.received.ticket),
  }
  await context.storage.interactions.create(interaction, MAX_PENDING)
  return { id, csrfToken: csrfTokens(interaction, context)[0] ?? '' }
}

/**
 * Finds the stored request (interaction) behind an approval screen. Only the person for whom the
 * screen was opened, in the same session, may decide, and only from a page of this server.
 * @throws DecisionRefused or CsrfMismatch
 */
export async function requireInteraction(
  id: string,
  csrfToken: string | null,
  person: Person,
  context: ServerContext,
): Promise<Interaction> {
  const interaction = await context.storage.interactions.find(sha256(id))
  const theirs = interaction?.userId === person.id && interaction.sessionId === person.sessionId
  if (!theirs) throw new DecisionRefused('expired')
  const accepted = csrfTokens(interaction, context)
  if (!accepted.some((text) => areSecretsEqual(csrfToken ?? '', text))) {
    throw new CsrfMismatch('The CSRF token of the form is missing or wrong.')
  }
  if (interaction.decidedAt) throw createAlreadyDecidedError()
  if (interaction.expiresAt <= context.options.clock.now()) throw new DecisionRefused('expired')
  return interaction
}

/**
 * Returns the valid CSRF tokens of an interaction, the one for new pages first. The others are for
 * pages shown before the secret was replaced.
 */
function csrfTokens(interaction: Interaction, { keyring }: ServerContext): string[] {
  const { hash, userId, sessionId } = interaction
  const tokenOf = (key: MacKey) => computeHmac(key, [hash, userId, sessionId].join('\n'))
  return keyring.macKeys('approval forms').map(tokenOf)
}

/**
 * Thrown if a person's decision on the approval screen cannot be accepted, for example because the
 * screen has expired. The error page explains the reason in the person's language.
 */
export class DecisionRefused extends InvalidRequest {
  readonly reason: 'expired' | 'answered' | 'applicationGone'

  constructor(reason: DecisionRefused['reason']) {
    super(withoutFullStop(ENGLISH(`error.${reason}`)), {
      hint: withoutFullStop(ENGLISH(`error.${reason}.hint`)),
    })
    this.reason = reason
  }
}

/** Removes the full stop, which error messages for programs do not have. */
function withoutFullStop(text: string): string {
  return text.replace(/\.$/, '')
}

/**
 * Creates the error for a second decision about the same authorization request. The screen is not
 * offered again, because the application waits for one response only.
 */
export function createAlreadyDecidedError(): DecisionRefused {
  return new DecisionRefused('answered')
}

/**
 * Returns the URL that the form of the approval screen is posted to. The URL repeats the parameters
 * of the authorization request, so that an expired screen can be opened again.
 */
export function buildDecisionFormUrl(
  path: string,
  { id }: PendingApprovalDecision,
  request: ReadonlyMap<string, string>,
): string {
  const rest = [...request].filter(([name]) => name !== INTERACTION)
  return `${path}?${new URLSearchParams([[INTERACTION, id], ...rest])}`
}

/**
 * Returns a link that opens the approval screen again after its form was rejected because the
 * person has signed out or in again, or the page was open too long. Does not redirect by itself,
 * because another site could have posted the form. Returns `null` if opening the screen again would
 * not help.
 */
export function findReopenLink(
  error: OAuthError,
  { method, path, query }: Pick<HttpRequest, 'method' | 'path' | 'query'>,
  { options: { basePath } }: ServerContext,
): string | null {
  const tooOld =
    isOAuthError(error, 'unauthenticated') ||
    isOAuthError(error, 'csrf_mismatch') ||
    (error instanceof DecisionRefused && error.reason === 'expired')
  if (method !== 'POST' || !tooOld) return null
  const request = new URLSearchParams(query)
  request.delete(INTERACTION)
  if (request.size > 0) return `${path}?${request}`
  return path === `${basePath}/authorize` ? null : path
}
