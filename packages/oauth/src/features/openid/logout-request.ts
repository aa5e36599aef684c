import { deriveClientSessionId } from '../../authorization/sign-in-details.ts'
import { findRedirectProblem } from '../../clients/redirect-uris.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidRequest, isOAuthError } from '../../errors.ts'
import type { Form } from '../../http/form.ts'
import type { Client } from '../../storage/records.ts'
import type { Person } from '../../users/signed-in.ts'
import { type IdTokenHint, readIdTokenHint } from './hint.ts'
import type { OpenIdSettings } from './settings.ts'
import { chooseSubjectForClient } from './subject.ts'

/** A request of a client to sign a person out (OpenID Connect RP-Initiated Logout §2). */
export interface LogoutRequest {
  /** The verified ID token that proves which client sent the request. `null` for none. */
  readonly hint: IdTokenHint | null
  /**
   * The client named by the ID token hint or by `client_id`. Anyone can send a `client_id`, so it
   * proves nothing. `null` if neither was sent.
   */
  readonly client: Client | null
  /**
   * URL that the person is redirected to afterwards, including `state`. `null` unless it is registered
   * and the request has a valid hint.
   */
  readonly redirectTo: string | null
  /**
   * Id of the page text that explains why the requested redirect is not followed. `null` if there
   * is no problem.
   */
  readonly problem: 'signOut.unregistered' | 'signOut.unproven' | null
  /** The `ui_locales` of the request. `null` if it was not sent. */
  readonly uiLocales: string | null
  /** Parameters of the request that the form of the confirmation page sends again. */
  readonly fields: Readonly<Record<string, string>>
}

const RESUBMITTED_FIELDS = [
  'id_token_hint',
  'client_id',
  'post_logout_redirect_uri',
  'state',
  'ui_locales',
]

/**
 * Reads the parameters of a request to sign a person out. Ignores an invalid `id_token_hint`,
 * because people must always be able to sign out.
 */
export async function readLogoutRequest(
  params: Form,
  context: ServerContext,
): Promise<LogoutRequest> {
  const text = params.get('id_token_hint')
  const read = text === undefined ? null : readHint(text, context)
  const named = params.get('client_id')
  if (read && named !== undefined && named !== read.aud) {
    throw new InvalidRequest('The id_token_hint was issued to a different client than client_id')
  }
  const clientId = read?.aud ?? named
  const client = clientId === undefined ? null : await findClient(clientId, context)
  // The hint of a deleted client proves nothing.
  const hint = client ? read : null
  const wanted = params.get('post_logout_redirect_uri')
  const mayGo = wanted !== undefined && hint !== null && isRegistered(wanted, client)
  return {
    hint,
    client,
    redirectTo: mayGo ? withState(wanted, params.get('state')) : null,
    problem: wanted !== undefined && !mayGo ? describeRedirectProblem(hint) : null,
    uiLocales: params.get('ui_locales') ?? null,
    fields: Object.fromEntries([...params].filter(([name]) => RESUBMITTED_FIELDS.includes(name))),
  }
}

/**
 * Whether the `id_token_hint` of a logout request belongs to the person's current session. Only
 * then is the person signed out without a confirmation page: an old ID token that leaked must not
 * be enough.
 */
export async function hintMatchesSession(
  { hint, client }: LogoutRequest,
  person: Person,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<boolean> {
  if (!hint || !client || hint.sub !== chooseSubjectForClient(client, person.id, settings))
    return false
  // Without session ids, a person has only one session.
  if (person.sessionId === null || hint.sid === null) return person.sessionId === hint.sid
  if (hint.sid === deriveClientSessionId(person.sessionId, client.id)) return true
  const session = await context.storage.sessions.find(hint.sid)
  return session?.sessionId === person.sessionId
}

/** Finds the client. Also returns `null` if its metadata document cannot be fetched at present. */
async function findClient(clientId: string, context: ServerContext): Promise<Client | null> {
  try {
    return await context.clients.findNamed(clientId, context)
  } catch (error) {
    if (isOAuthError(error)) return null
    throw error
  }
}

function readHint(text: string, context: ServerContext): IdTokenHint | null {
  try {
    return readIdTokenHint(text, context)
  } catch {
    return null
  }
}

/** Whether the URI equals a registered one, character by character, and cannot run script. */
function isRegistered(uri: string, client: Client | null): boolean {
  const registered = client?.settings.post_logout_redirect_uris ?? []
  return registered.includes(uri) && findRedirectProblem(uri) === null
}

function withState(uri: string, state: string | undefined): string {
  if (state === undefined) return uri
  return `${uri}${uri.includes('?') ? '&' : '?'}state=${encodeURIComponent(state)}`
}

function describeRedirectProblem(hint: IdTokenHint | null): NonNullable<LogoutRequest['problem']> {
  return hint ? 'signOut.unregistered' : 'signOut.unproven'
}
