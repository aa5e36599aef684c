import { sessionName } from '../../authorization/sign-in-details.ts'
import { redirectProblem } from '../../clients/redirect-uris.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidRequest, isOAuthError } from '../../errors.ts'
import type { Form } from '../../http/form.ts'
import type { Client } from '../../storage/records.ts'
import type { Person } from '../../users/users.ts'
import { type IdTokenHint, readIdTokenHint } from './hint.ts'
import type { OpenIdSettings } from './settings.ts'
import { subjectFor } from './subject.ts'

/** What a client asks for that signs somebody out (OpenID Connect RP-Initiated Logout §2). */
export interface LogoutRequest {
  /** Only with a token of ours that proves who asks. */
  readonly hint: IdTokenHint | null
  /** Who asks, as the hint or `client_id` says; the second proves nothing. */
  readonly client: Client | null
  /** Where the person goes afterwards, with `state`. Registered, and asked for with a hint. */
  readonly redirectTo: string | null
  /** Why they do not go where the client wants, for people. */
  readonly problem: string | null
  readonly locales: readonly string[]
  /** What the form of the question sends again. */
  readonly fields: Readonly<Record<string, string>>
}

const KEPT_FIELDS = [
  'id_token_hint',
  'client_id',
  'post_logout_redirect_uri',
  'state',
  'ui_locales',
]

/** Never fails for a hint that is none of ours: whoever wants to sign out must be able to. */
export async function readLogoutRequest(
  params: Form,
  context: ServerContext,
): Promise<LogoutRequest> {
  const text = params.get('id_token_hint')
  const read = text === undefined ? null : readHint(text, context)
  const named = params.get('client_id')
  if (read && named !== undefined && named !== read.aud) {
    throw new InvalidRequest('The id_token_hint was issued to another client than client_id')
  }
  const clientId = read?.aud ?? named
  const client = clientId === undefined ? null : await findClient(clientId, context)
  // A client that was deleted proves nothing any more.
  const hint = client ? read : null
  const wanted = params.get('post_logout_redirect_uri')
  const mayGo = wanted !== undefined && hint !== null && isRegistered(wanted, client)
  return {
    hint,
    client,
    redirectTo: mayGo ? withState(wanted, params.get('state')) : null,
    problem: wanted !== undefined && !mayGo ? whyNot(hint) : null,
    locales: params.get('ui_locales')?.split(' ') ?? [],
    fields: Object.fromEntries([...params].filter(([name]) => KEPT_FIELDS.includes(name))),
  }
}

/**
 * Whether the hint belongs to the very session that is asked to end. Then the client could just as well show
 * the question itself; otherwise a token that leaked long ago would sign people out.
 */
export async function isOfSession(
  { hint, client }: LogoutRequest,
  person: Person,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<boolean> {
  if (!hint || !client || hint.sub !== subjectFor(client, person.id, settings)) return false
  // Where the application names no sessions, a person has but one.
  if (person.sessionId === null || hint.sid === null) return person.sessionId === hint.sid
  if (hint.sid === sessionName(person.sessionId, client.id)) return true
  const session = await context.storage.sessions.find(hint.sid)
  return session?.sessionId === person.sessionId
}

/** Null also where its document cannot be had now. */
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

/** Character by character, and nothing that could run script. */
function isRegistered(uri: string, client: Client | null): boolean {
  const registered = client?.settings.post_logout_redirect_uris ?? []
  return registered.includes(uri) && redirectProblem(uri) === null
}

function withState(uri: string, state: string | undefined): string {
  if (state === undefined) return uri
  return `${uri}${uri.includes('?') ? '&' : '?'}state=${encodeURIComponent(state)}`
}

function whyNot(hint: IdTokenHint | null): string {
  return hint
    ? 'The application names an address to return to that it has not registered.'
    : 'The application names an address to return to, but does not prove who it is.'
}
