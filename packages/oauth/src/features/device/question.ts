import type { HttpResponse } from '@tollgate/http'
import {
  alreadyAnswered,
  openInteraction,
  requireInteraction,
  screenAddress,
} from '../../authorization/decision.ts'
import {
  consentTo,
  describeScopes,
  findEarlierConsent,
  readDeclined,
  withoutDeclined,
} from '../../authorization/optional-scopes.ts'
import type { LanguageOfPage } from '../../authorization/page-language.ts'
import { splitTicket } from '../../authorization/request-ticket.ts'
import {
  describeApplication,
  describeResources,
} from '../../authorization/requesting-application.ts'
import { withSignIn } from '../../authorization/sign-in-details.ts'
import { otherAccountLocation } from '../../authorization/sign-in-page.ts'
import { isUnused, markUsed } from '../../clients/self-registered.ts'
import type { ServerContext } from '../../context.ts'
import { randomSecret, sha256, timeOrderedId } from '../../crypto.ts'
import { InvalidRequest } from '../../errors.ts'
import { type Form, requireParam } from '../../http/form.ts'
import { htmlPage } from '../../http/html.ts'
import type { DeviceView } from '../../pages/pages.ts'
import type { AuthorizationCode, Client, Interaction } from '../../storage/records.ts'
import type { Person, SignedInPerson } from '../../users/signed-in.ts'
import {
  answerDeviceRequest,
  type DeviceRequest,
  type FoundRequest,
  findDeviceRequest,
  isOpen,
} from './device-request.ts'
import { DEVICE_CODE } from './poll.ts'

export async function showDeviceView(
  view: DeviceView,
  status: number,
  { options }: ServerContext,
): Promise<HttpResponse> {
  return htmlPage(await options.pages.device(view), status)
}

/** An open request whose user code was entered. */
export interface OpenRequest {
  readonly hash: string
  readonly userCode: string
  readonly client: Client
  readonly request: DeviceRequest
}

/** Shows the approval page, with an interaction as on the approval screen. */
export async function askToApprove(
  { hash, userCode, client, request: { scopes, details } }: OpenRequest,
  { view: page, sent }: LanguageOfPage,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const pendingRequest = {
    client,
    scopes,
    details,
    response: { type: DEVICE_CODE },
    received: { ticket: hash },
    // Without a redirect URI, the approval screen's own URL cannot be used to decide this
    // interaction.
    ...{ redirectTo: '', redirectUri: null, state: null, codeChallenge: null },
  }
  const pending = await openInteraction(pendingRequest, person, context)
  const { basePath } = context.options
  const shown = [...scopes, ...(details?.alsoShown ?? [])]
  const before = await findEarlierConsent(
    { userId: person.id, clientId: client.id, shown },
    context,
  )
  const again = new Map([['user_code', userCode], ...sent])
  const view: DeviceView = {
    ...page,
    step: 'confirm',
    ...describeApplication(client, context),
    userId: person.id,
    otherAccount: otherAccountLocation(
      context,
      `${basePath}/device?${new URLSearchParams([...again])}`,
    ),
    scopes: describeScopes(shown, before, page.language, context),
    resources: describeResources(details, context),
    userCode,
    action: screenAddress(`${basePath}/device`, pending, again),
    csrfToken: pending.csrfToken,
  }
  return showDeviceView(view, 200, context)
}

interface Pending {
  readonly interaction: Interaction
  readonly device: FoundRequest
  readonly client: Client
  readonly person: SignedInPerson
  readonly form: Form
}

/**
 * Handles one of the two buttons. Only the same person in the same session may decide, and only
 * from our own page.
 */
export async function decide(
  id: string,
  form: Form,
  { page, person }: { readonly page: LanguageOfPage; readonly person: SignedInPerson },
  context: ServerContext,
): Promise<HttpResponse> {
  const decisions: Readonly<Record<string, typeof approve>> = { approve, deny }
  const decision = requireParam(form, 'decision')
  const carryOut = Object.hasOwn(decisions, decision) ? decisions[decision] : undefined
  if (!carryOut) throw new InvalidRequest('decision must be approve or deny')
  const interaction = await requireInteraction(id, form.get('csrf_token') ?? null, person, context)
  const hash = splitTicket(interaction.details).ticket
  if (interaction.responseType !== DEVICE_CODE || hash === null) throw alreadyAnswered()
  // The request may have been answered in another tab, or the client deleted, while the page was
  // open.
  const device = await findDeviceRequest(hash, context)
  const client = await context.clients.find(interaction.clientId)
  if (!client || !device || !isOpen(device, context)) throw alreadyAnswered()
  const approved = await carryOut({ interaction, device, client, person, form }, context)
  return showDeviceView({ ...page.view, step: 'done', approved, client }, 200, context)
}

/**
 * Stores the approval as an authorization code, as the approval screen does. Until the device
 * fetches its token, everything that ends codes and consents ends the approval too. The device is
 * told only afterwards.
 */
async function approve(pending: Pending, context: ServerContext): Promise<boolean> {
  const { interaction, device, client, person, form } = pending
  const { clientId, userId } = interaction
  const { details } = device.request
  const shown = [...interaction.scopes, ...(details?.alsoShown ?? [])]
  const declined = readDeclined(form, shown, context)
  const share = withoutDeclined({ scopes: interaction.scopes, details }, declined)
  // Unused clients may be evicted. Mark the client before approving, because nothing that was
  // approved is ever evicted.
  if (isUnused(client) && !(await markUsed(client, context))) throw alreadyAnswered()
  const at = context.clock.now()
  const code: AuthorizationCode = {
    // Hash of a discarded random text: the token endpoint finds the code only through the device
    // code.
    hash: sha256(randomSecret()),
    tokenId: timeOrderedId(at),
    clientId,
    userId,
    redirectUri: null,
    scopes: share.scopes,
    codeChallenge: null,
    expiresAt: device.expiresAt,
    usedAt: null,
    details: withSignIn(share.details, person, client),
  }
  const consent = consentTo(interaction, share, declined, at)
  if (!(await context.storage.interactions.approve(interaction.hash, { at, consent, code }))) {
    throw alreadyAnswered()
  }
  const decision = { approved: true, codeHash: code.hash } as const
  if (!(await answerDeviceRequest(device.hash, decision, context))) throw alreadyAnswered()
  return true
}

async function deny({ interaction, device }: Pending, context: ServerContext): Promise<boolean> {
  if (!(await context.storage.interactions.deny(interaction.hash, context.clock.now()))) {
    throw alreadyAnswered()
  }
  if (!(await answerDeviceRequest(device.hash, { approved: false }, context)))
    throw alreadyAnswered()
  return false
}
