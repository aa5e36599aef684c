import type { HttpRequest, HttpResponse } from '@tollgate/http'
import {
  createAlreadyDecidedError,
  DecisionRefused,
  requireInteraction,
} from '../authorization/decision.ts'
import {
  buildConsent,
  readDeclinedScopes,
  removeDeclinedScopes,
} from '../authorization/optional-scopes.ts'
import { choosePageLanguage } from '../authorization/page-language.ts'
import {
  consumeTicketForResponse,
  splitTicketFromDetails,
} from '../authorization/request-ticket.ts'
import {
  createAuthorizationErrorResponse,
  createAuthorizationResponse,
} from '../authorization/response.ts'
import type { ResponseMode } from '../authorization/response-modes.ts'
import { addSignInDetails } from '../authorization/sign-in-details.ts'
import { matchesRedirect } from '../clients/redirect-uris.ts'
import { findScopeLimit, isUnusedClient, markClientUsed } from '../clients/self-registered.ts'
import type { ServerContext } from '../context.ts'
import { AccessDenied, InvalidRequest, Unauthenticated } from '../errors.ts'
import { type Form, parseForm, readForm, requireParam } from '../http/form.ts'
import { redirectResponse } from '../http/responses.ts'
import { assertSameOrigin } from '../http/same-origin.ts'
import { ENGLISH, type PageText } from '../pages/messages/messages.ts'
import type { Client, Interaction } from '../storage/records.ts'
import { emitTokenCreated } from '../tokens/issue.ts'
import { findSignedIn, type SignedInPerson } from '../users/signed-in.ts'

const MAX_QUERY_LENGTH = 8000

/**
 * Handles POST /oauth/authorize: a button of the approval screen, or an authorization request sent
 * as a form.
 */
export async function handleAuthorizationForm(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  return parseForm(request.query).has('interaction')
    ? decide(request, context)
    : redirectToGet(request, context)
}

/**
 * Redirects an authorization request that was posted (OpenID Connect Core §3.1.2.1) to the same
 * request by GET. Browsers do not send the session cookie with a form of another site, but they do
 * with the redirect.
 */
async function redirectToGet(request: HttpRequest, context: ServerContext): Promise<HttpResponse> {
  const pairs = [...parseForm(request.query), ...(await readForm(request))]
  if (!pairs.some(([name]) => name === 'client_id')) requireParam(new Map(pairs), 'interaction')
  // A parameter in both the query and the body is now there twice, which the GET request rejects.
  const query = new URLSearchParams(pairs).toString()
  if (query.length > MAX_QUERY_LENGTH) {
    throw new InvalidRequest(`The request is longer than ${MAX_QUERY_LENGTH} characters`)
  }
  return redirectResponse(`${context.options.basePath}/authorize?${query}`)
}

async function decide(request: HttpRequest, context: ServerContext): Promise<HttpResponse> {
  assertSameOrigin(request, context.options.issuerUrl)
  const form = await readForm(request)
  const decision = form.get('decision') ?? 'approve'
  const decisions: Readonly<Record<string, typeof approve>> = { approve, deny: denyInteraction }
  const carryOut = Object.hasOwn(decisions, decision) ? decisions[decision] : undefined
  if (!carryOut) throw new InvalidRequest('decision must be approve or deny')
  const { t } = choosePageLanguage(request, parseForm(request.query).get('ui_locales'), context)
  return carryOut({ ...(await requireOpenInteraction(request, form, context)), form, t }, context)
}

/** Handles DELETE /oauth/authorize: denies the request, for approval pages that use script. */
export async function handleDenial(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  assertSameOrigin(request, context.options.issuerUrl)
  const form = new Map()
  return denyInteraction(
    { ...(await requireOpenInteraction(request, form, context)), form, t: ENGLISH },
    context,
  )
}

interface OpenInteraction {
  readonly interaction: Interaction
  readonly client: Client
  readonly person: SignedInPerson
}

/** An open interaction, with the submitted form. */
interface SubmittedDecision extends OpenInteraction {
  readonly form: Form
  /** Texts for a page that delivers the response by form post. */
  readonly t: PageText
}

async function requireOpenInteraction(
  request: HttpRequest,
  form: Form,
  context: ServerContext,
): Promise<OpenInteraction> {
  const query = parseForm(request.query)
  const id = requireParam(query, 'interaction')
  // The client_id only says which session to read; the interaction determines the person and the
  // client.
  const hinted = await context.clients.find(query.get('client_id') ?? '')
  const person = await findSignedIn(context.options, request, hinted?.settings.provider)
  if (!person) throw new Unauthenticated('Unauthenticated.')
  const csrfToken = form.get('csrf_token') ?? request.header('x-csrf-token')
  const interaction = await requireInteraction(id, csrfToken, person, context)
  // The client may have been deleted, or its redirect URI changed, while the page was open.
  const client = await context.clients.find(interaction.clientId)
  const reachable = client?.redirectUris.some((uri) => matchesRedirect(uri, interaction.redirectTo))
  if (!client || !reachable) throw createClientGoneError()
  return { interaction, client, person }
}

/** Whether the client still has the grant and the scopes that it had when the page was opened. */
function stillAllowsInteraction(
  { scopes }: Interaction,
  client: Client,
  grantType: string,
  { options }: ServerContext,
): boolean {
  const limit = findScopeLimit(client, options)
  const isWithin = limit === null || scopes.every((name) => limit.includes(name))
  return client.grantTypes.includes(grantType) && isWithin
}

function createClientGoneError(): DecisionRefused {
  return new DecisionRefused('applicationGone')
}

async function approve(
  { interaction, client, person, form, t }: SubmittedDecision,
  context: ServerContext,
): Promise<HttpResponse> {
  const offered = context.responses.get(interaction.responseType)
  if (!offered) throw createAlreadyDecidedError()
  if (!stillAllowsInteraction(interaction, client, offered.grantType, context))
    throw createClientGoneError()
  const { ticket, details: requestedDetails } = splitTicketFromDetails(interaction.details)
  const declined = readDeclinedScopes(
    form,
    [...interaction.scopes, ...(requestedDetails?.alsoShown ?? [])],
    context,
  )
  const share = removeDeclinedScopes(
    { scopes: interaction.scopes, details: requestedDetails },
    declined,
  )
  const details = addSignInDetails(share.details, person, client)
  // Unused clients may be evicted. Mark the client before approving, because nothing that was
  // approved is ever evicted.
  if (isUnusedClient(client) && !(await markClientUsed(client, context)))
    throw createClientGoneError()
  const result = await offered.response.prepare(
    { ...interaction, client, scopes: share.scopes, details },
    context,
  )
  const at = context.options.clock.now()
  const approved = await context.storage.interactions.approve(interaction.hash, {
    at,
    consent: buildConsent(interaction, share, declined, at),
    ...(result.code ? { code: result.code } : {}),
    ...(result.token ? { token: result.token } : {}),
  })
  if (!approved) throw createAlreadyDecidedError()
  await consumeTicketForResponse(ticket, result.token, context)
  if (result.token) {
    emitTokenCreated(result.token, context)
    await context.clientUses.note(client.id)
  }
  return createAuthorizationResponse(
    buildResponseTarget(interaction, context),
    result.params,
    context.options.issuer,
    t,
  )
}

async function denyInteraction(
  { interaction, t }: SubmittedDecision,
  context: ServerContext,
): Promise<HttpResponse> {
  const denied = await context.storage.interactions.deny(
    interaction.hash,
    context.options.clock.now(),
  )
  if (!denied) throw createAlreadyDecidedError()
  await consumeTicketForResponse(
    splitTicketFromDetails(interaction.details).ticket,
    undefined,
    context,
  )
  const error = new AccessDenied('The user denied the request')
  const { issuer } = context.options
  return createAuthorizationErrorResponse(
    buildResponseTarget(interaction, context),
    error,
    issuer,
    t,
  )
}

function buildResponseTarget(interaction: Interaction, context: ServerContext) {
  const usual = context.responses.get(interaction.responseType)?.response.mode ?? 'query'
  const mode = (interaction.details?.responseMode as ResponseMode | undefined) ?? usual
  return { redirectTo: interaction.redirectTo, state: interaction.state, mode }
}
