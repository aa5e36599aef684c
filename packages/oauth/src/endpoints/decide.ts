import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { answered, requireInteraction } from '../authorization/decision.ts'
import { consentTo, readDeclined, withoutDeclined } from '../authorization/optional-scopes.ts'
import { authorizationErrorResponse, authorizationResponse } from '../authorization/response.ts'
import type { ResponseMode } from '../authorization/response-modes.ts'
import { withSignIn } from '../authorization/sign-in-details.ts'
import { claimAnswer, splitTicket } from '../authorization/single-answer.ts'
import { matchesRedirect } from '../clients/redirect-uris.ts'
import { isUnused, markUsed } from '../clients/self-registered.ts'
import type { ServerContext } from '../context.ts'
import { AccessDenied, InvalidRequest, Unauthenticated } from '../errors.ts'
import { type Form, parseForm, readForm, requireParam } from '../http/form.ts'
import { redirect } from '../http/responses.ts'
import { assertSameOrigin } from '../http/same-origin.ts'
import type { Client, Interaction } from '../storage/records.ts'
import { emitTokenCreated } from '../tokens/issue.ts'
import { findSignedIn, type SignedInPerson } from '../users/users.ts'

const LONGEST_QUERY = 8000

/** POST /oauth/authorize: the two buttons of the approval screen, or a request that came as a form. */
export async function postAuthorize(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  return parseForm(request.query).has('interaction')
    ? decide(request, context)
    : askAgainByGet(request, context)
}

/**
 * OpenID Connect Core §3.1.2.1 lets clients post their request. Browsers keep the session's cookie back
 * from a form of another site, so they are sent to the same request by GET.
 */
async function askAgainByGet(request: HttpRequest, context: ServerContext): Promise<HttpResponse> {
  const pairs = [...parseForm(request.query), ...(await readForm(request))]
  if (!pairs.some(([name]) => name === 'client_id')) requireParam(new Map(pairs), 'interaction')
  // One that stands in the address and in the body was sent twice, and is refused there.
  const query = new URLSearchParams(pairs).toString()
  if (query.length > LONGEST_QUERY) {
    throw new InvalidRequest(`The request is longer than ${LONGEST_QUERY} characters`)
  }
  return redirect(`${context.options.basePath}/authorize?${query}`)
}

async function decide(request: HttpRequest, context: ServerContext): Promise<HttpResponse> {
  assertSameOrigin(request, context.options.issuerUrl)
  const form = await readForm(request)
  const decision = form.get('decision') ?? 'approve'
  const decisions: Readonly<Record<string, typeof approve>> = { approve, deny: refuse }
  const carryOut = Object.hasOwn(decisions, decision) ? decisions[decision] : undefined
  if (!carryOut) throw new InvalidRequest('decision must be approve or deny')
  return carryOut({ ...(await pending(request, form, context)), form }, context)
}

/** DELETE /oauth/authorize: denies, for pages that use script. */
export async function deny(request: HttpRequest, context: ServerContext): Promise<HttpResponse> {
  assertSameOrigin(request, context.options.issuerUrl)
  const form = new Map()
  return refuse({ ...(await pending(request, form, context)), form }, context)
}

interface Pending {
  readonly interaction: Interaction
  readonly client: Client
  readonly person: SignedInPerson
}

/** With what the form says of it. */
interface PressedButton extends Pending {
  readonly form: Form
}

async function pending(request: HttpRequest, form: Form, context: ServerContext): Promise<Pending> {
  const id = requireParam(parseForm(request.query), 'interaction')
  const person = await findSignedIn(context.options, request)
  if (!person) throw new Unauthenticated('Unauthenticated.')
  const csrfToken = form.get('csrf_token') ?? request.header('x-csrf-token')
  const interaction = await requireInteraction(id, csrfToken, person, context)
  // The client may have been deleted, or its address changed, while the page was open.
  const client = await context.clients.find(interaction.clientId)
  const reachable = client?.redirectUris.some((uri) => matchesRedirect(uri, interaction.redirectTo))
  if (!client || !reachable) throw clientGone()
  return { interaction, client, person }
}

function clientGone(): InvalidRequest {
  return new InvalidRequest('This application is gone, or its address has changed', {
    hint: 'Go back to the application and start again',
  })
}

async function approve(
  { interaction, client, person, form }: PressedButton,
  context: ServerContext,
): Promise<HttpResponse> {
  const offered = context.responses.get(interaction.responseType)
  if (!offered) throw answered()
  const { ticket, details: asked } = splitTicket(interaction.details)
  const declined = readDeclined(form, [...interaction.scopes, ...(asked?.alsoShown ?? [])], context)
  const share = withoutDeclined({ scopes: interaction.scopes, details: asked }, declined)
  const details = withSignIn(share.details, person, client)
  // Before anything is approved: what was is never evicted.
  if (isUnused(client) && !(await markUsed(client, context))) throw clientGone()
  const result = await offered.response.prepare(
    { ...interaction, client, scopes: share.scopes, details },
    context,
  )
  const at = context.options.clock.now()
  const approved = await context.storage.interactions.approve(interaction.hash, {
    at,
    consent: consentTo(interaction, share, declined, at),
    ...(result.code ? { code: result.code } : {}),
    ...(result.token ? { token: result.token } : {}),
  })
  if (!approved) throw answered()
  await claimAnswer(ticket, result.token, context)
  if (result.token) emitTokenCreated(result.token, context)
  return authorizationResponse(
    addressOf(interaction, context),
    result.params,
    context.options.issuer,
  )
}

async function refuse(
  { interaction }: PressedButton,
  context: ServerContext,
): Promise<HttpResponse> {
  const denied = await context.storage.interactions.deny(
    interaction.hash,
    context.options.clock.now(),
  )
  if (!denied) throw answered()
  await claimAnswer(splitTicket(interaction.details).ticket, undefined, context)
  const error = new AccessDenied('The user denied the request')
  return authorizationErrorResponse(addressOf(interaction, context), error, context.options.issuer)
}

function addressOf(interaction: Interaction, context: ServerContext) {
  const usual = context.responses.get(interaction.responseType)?.response.mode ?? 'query'
  const mode = (interaction.details?.responseMode as ResponseMode | undefined) ?? usual
  return { redirectTo: interaction.redirectTo, state: interaction.state, mode }
}
