import { openRequestQuota, type StoreCountedTicket } from '../../clients/request-share.ts'
import type { ServerContext } from '../../context.ts'
import { createRandomSecret } from '../../crypto.ts'
import { InvalidRequest, TemporarilyUnavailable } from '../../errors.ts'
import { requestRates, ticketQuotas } from '../../limits/policies.ts'
import type { GrantDetails } from '../../storage/details.ts'
import type { Client, Ticket } from '../../storage/records.ts'
import type { TicketChange } from '../../storage/repositories.ts'
import { hashTicketName } from '../../storage/tickets.ts'
import { createUserCode, hashUserCode, USER_CODE_LIMIT_NAME } from './user-code.ts'

const KIND = 'device'
const POLICY = { rate: requestRates.deviceCodes, share: ticketQuotas.deviceCodes }
/** Longest stored request, the same as for pushed requests. */
const MAX_CONTENT_LENGTH = 8000
/**
 * How often a user code may be entered. A person needs it once; more suggests that the code is
 * being passed around.
 */
const MAX_OPENINGS = 10
const MAX_ATTEMPTS = 8
/** Marks a request whose code was entered or that was answered. It is never evicted afterwards. */
const NEVER_EVICTED: TicketChange = { holder: null }

/** A device's request for access (RFC 8628) that waits for a person's decision. */
export interface DeviceRequest {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly details: GrantDetails | null
  /** Minimum seconds between two polls. Grows if the device polls too fast. */
  readonly interval: number
  /** Time of the last poll, in milliseconds. `null` before the first. */
  readonly polledAt: number | null
  /** How often the user code of the request was entered. */
  readonly openings: number
  readonly decision: DeviceDecision | null
}

/**
 * The decision of a person about a device request. An approval refers to an authorization code
 * (`codeHash`) that no one can redeem, so that everything that revokes codes also revokes the
 * approval.
 */
export type DeviceDecision =
  | { readonly approved: false }
  | { readonly approved: true; readonly codeHash: string }

export interface StoredDeviceRequest {
  readonly hash: string
  readonly expiresAt: Date
  readonly request: DeviceRequest
}

export function hashDeviceCode(deviceCode: string): string {
  return hashTicketName(KIND, deviceCode)
}

/**
 * Stores a device request and returns its device code and user code. Only their hashes are stored.
 */
export async function storeDeviceRequest(
  newRequest: Pick<DeviceRequest, 'scopes' | 'details' | 'interval'> & { readonly client: Client },
  seconds: number,
  context: ServerContext,
): Promise<{ readonly deviceCode: string; readonly userCode: string }> {
  const { client, scopes, details, interval } = newRequest
  const request: DeviceRequest = {
    ...{ clientId: client.id, scopes, details, interval },
    ...{ polledAt: null, openings: 0, decision: null },
  }
  const content = JSON.stringify(request)
  if (content.length > MAX_CONTENT_LENGTH) {
    throw new InvalidRequest(`The request is longer than ${MAX_CONTENT_LENGTH} characters`)
  }
  const deviceCode = `tgd_${createRandomSecret()}`
  const hash = hashDeviceCode(deviceCode)
  const expiresAt = new Date(context.clock.now().getTime() + seconds * 1000)
  const add = await openRequestQuota(client, POLICY, context)
  const userCode = await addUserCode(hash, expiresAt, add, context)
  await add({ hash, kind: KIND, content, expiresAt })
  return { deviceCode, userCode }
}

/** Creates a user code that no other device has or recently had. */
async function addUserCode(
  of: string,
  expiresAt: Date,
  add: StoreCountedTicket,
  context: ServerContext,
): Promise<string> {
  for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
    const userCode = createUserCode()
    const [hash = ''] = hashUserCode(userCode, context)
    if (await add({ hash, kind: USER_CODE_LIMIT_NAME, content: of, expiresAt })) return userCode
  }
  throw new TemporarilyUnavailable('No unused code for the device could be found right now')
}

export async function findDeviceRequestByUserCode(
  userCode: string,
  context: ServerContext,
): Promise<StoredDeviceRequest | null> {
  for (const hash of hashUserCode(userCode, context)) {
    const ticket = await context.storage.tickets.find(hash)
    if (!ticket) continue
    const { content, holder } = ticket
    // A person is looking at the request, so it must not be evicted any more.
    if (holder !== null) await context.storage.tickets.change(hash, content, content, NEVER_EVICTED)
    return findDeviceRequest(content, context)
  }
  return null
}

/**
 * Finds a device request by the hash of its device code. Also finds expired requests, so that the
 * device can be told that its code has expired.
 */
export async function findDeviceRequest(
  hash: string,
  { storage }: ServerContext,
): Promise<StoredDeviceRequest | null> {
  const ticket = await storage.tickets.find(hash)
  return ticket && parseStoredRequest(ticket)
}

function parseStoredRequest({ hash, expiresAt, content }: Ticket): StoredDeviceRequest {
  return { hash, expiresAt, request: JSON.parse(content) }
}

/**
 * Replaces a stored device request by the result of `decide`. Retries after concurrent changes,
 * because the device may poll while the person decides. Returns `null` if the request no longer
 * exists or `decide` returns `null`.
 */
export async function changeDeviceRequest(
  hash: string,
  decide: (found: StoredDeviceRequest) => DeviceRequest | null,
  { storage }: ServerContext,
  ticketChange: TicketChange = {},
): Promise<DeviceRequest | null> {
  for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
    const ticket = await storage.tickets.find(hash)
    const after = ticket && decide(parseStoredRequest(ticket))
    if (!ticket || !after) return null
    const content = JSON.stringify(after)
    if (await storage.tickets.change(hash, ticket.content, content, ticketChange)) return after
  }
  throw new TemporarilyUnavailable('This device code is being used by too many concurrent requests')
}

/**
 * Whether a person may still approve or deny the device request: it is neither decided nor expired.
 */
export function isDeviceRequestOpen(
  { request, expiresAt }: StoredDeviceRequest,
  { clock }: ServerContext,
): boolean {
  return request.decision === null && expiresAt.getTime() > clock.now().getTime()
}

/**
 * Finds a device request after its user code was entered, and counts the entry. Returns `null` if
 * the request is decided or expired, or its code was entered too often.
 */
export function openDeviceRequest(
  hash: string,
  context: ServerContext,
): Promise<DeviceRequest | null> {
  const decide = (found: StoredDeviceRequest) => {
    const { request } = found
    if (!isDeviceRequestOpen(found, context) || request.openings >= MAX_OPENINGS) return null
    return { ...request, openings: request.openings + 1 }
  }
  return changeDeviceRequest(hash, decide, context, NEVER_EVICTED)
}

/**
 * Stores a person's decision about a device request. Returns `false` if the request was already
 * decided or has expired.
 */
export async function storeDeviceDecision(
  hash: string,
  decision: DeviceDecision,
  context: ServerContext,
): Promise<boolean> {
  const decide = (found: StoredDeviceRequest) =>
    isDeviceRequestOpen(found, context) ? { ...found.request, decision } : null
  return (await changeDeviceRequest(hash, decide, context, NEVER_EVICTED)) !== null
}
