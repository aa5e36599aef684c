import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { expired, requireInteraction } from '../authorization/decision.ts'
import { authorizationErrorResponse, authorizationResponse } from '../authorization/response.ts'
import { matchesRedirect } from '../clients/redirect-uris.ts'
import type { ServerContext } from '../context.ts'
import { AccessDenied, InvalidRequest, Unauthenticated } from '../errors.ts'
import { type Form, parseForm, readForm, requireParam } from '../http/form.ts'
import { assertSameOrigin } from '../http/same-origin.ts'
import type { Client, Interaction } from '../storage/records.ts'
import { emitTokenCreated } from '../tokens/issue.ts'
import { findSignedIn } from '../users/users.ts'

/** POST /oauth/authorize: the two buttons of the approval screen. */
export async function decide(request: HttpRequest, context: ServerContext): Promise<HttpResponse> {
  assertSameOrigin(request, context.options.issuerUrl)
  const form = await readForm(request)
  const decision = form.get('decision') ?? 'approve'
  const decisions: Readonly<Record<string, typeof approve>> = { approve, deny: refuse }
  const carryOut = Object.hasOwn(decisions, decision) ? decisions[decision] : undefined
  if (!carryOut) throw new InvalidRequest('decision must be approve or deny')
  return carryOut(await pending(request, form, context), context)
}

/** DELETE /oauth/authorize: denies, for pages that use script. */
export async function deny(request: HttpRequest, context: ServerContext): Promise<HttpResponse> {
  assertSameOrigin(request, context.options.issuerUrl)
  return refuse(await pending(request, new Map(), context), context)
}

interface Pending {
  readonly interaction: Interaction
  readonly client: Client
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
  if (!client || !reachable) throw expired()
  return { interaction, client }
}

async function approve(
  { interaction, client }: Pending,
  context: ServerContext,
): Promise<HttpResponse> {
  const offered = context.responses.get(interaction.responseType)
  if (!offered) throw expired()
  const result = await offered.response.prepare({ ...interaction, client }, context)
  const at = context.options.clock.now()
  const { userId, clientId, scopes } = interaction
  const approved = await context.storage.interactions.approve(interaction.hash, {
    at,
    consent: { userId, clientId, scopes, updatedAt: at },
    ...(result.code ? { code: result.code } : {}),
    ...(result.token ? { token: result.token } : {}),
  })
  if (!approved) throw expired()
  if (result.token) emitTokenCreated(result.token, context)
  return authorizationResponse(
    addressOf(interaction, context),
    result.params,
    context.options.issuer,
  )
}

async function refuse({ interaction }: Pending, context: ServerContext): Promise<HttpResponse> {
  const denied = await context.storage.interactions.deny(
    interaction.hash,
    context.options.clock.now(),
  )
  if (!denied) throw expired()
  const error = new AccessDenied('The user denied the request')
  return authorizationErrorResponse(addressOf(interaction, context), error, context.options.issuer)
}

function addressOf(interaction: Interaction, context: ServerContext) {
  const mode = context.responses.get(interaction.responseType)?.response.mode ?? 'query'
  return { redirectTo: interaction.redirectTo, state: interaction.state, mode }
}
