import { type AddTicket, openRequestShare } from '../../clients/request-share.ts'
import type { ServerContext } from '../../context.ts'
import { randomSecret } from '../../crypto.ts'
import { InvalidRequest, TemporarilyUnavailable } from '../../errors.ts'
import { rates, shares } from '../../limits/policies.ts'
import type { GrantDetails } from '../../storage/details.ts'
import type { Client, Ticket } from '../../storage/records.ts'
import type { TicketChange } from '../../storage/repositories.ts'
import { ticketHash } from '../../storage/ticket-hash.ts'
import { newUserCode, USER_CODE, userCodeHashes } from './user-code.ts'

const KIND = 'device'
const POLICY = { rate: rates.deviceCodes, share: shares.deviceCodes }
/** As for pushed requests. */
const LONGEST_CONTENT = 8000
/** A code that so many have opened is not one that a person reads from their own device. */
const MOST_OPENINGS = 10
const MOST_TRIES = 8
/** A person has typed its code or answered: nothing evicts it any more. */
const USED: TicketChange = { holder: null }

/** What a device waits for. */
export interface DeviceRequest {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly details: GrantDetails | null
  /** Between two polls, in seconds; grows when the device is too fast. */
  readonly interval: number
  /** In milliseconds; null before the first poll. */
  readonly polledAt: number | null
  /** How often its user code was typed. */
  readonly openings: number
  readonly decision: DeviceDecision | null
}

/** An approval is an authorization code that nobody knows: whatever ends those ends it too. */
export type DeviceDecision =
  | { readonly approved: false }
  | { readonly approved: true; readonly codeHash: string }

export interface FoundRequest {
  readonly hash: string
  readonly expiresAt: Date
  readonly request: DeviceRequest
}

export function deviceHash(deviceCode: string): string {
  return ticketHash(KIND, deviceCode)
}

/** Gives the two codes, which are not stored. */
export async function storeDeviceRequest(
  asked: Pick<DeviceRequest, 'scopes' | 'details' | 'interval'> & { readonly client: Client },
  seconds: number,
  context: ServerContext,
): Promise<{ readonly deviceCode: string; readonly userCode: string }> {
  const { client, scopes, details, interval } = asked
  const request: DeviceRequest = {
    ...{ clientId: client.id, scopes, details, interval },
    ...{ polledAt: null, openings: 0, decision: null },
  }
  const content = JSON.stringify(request)
  if (content.length > LONGEST_CONTENT) {
    throw new InvalidRequest(`The request is longer than ${LONGEST_CONTENT} characters`)
  }
  const deviceCode = `tgd_${randomSecret()}`
  const hash = deviceHash(deviceCode)
  const expiresAt = new Date(context.clock.now().getTime() + seconds * 1000)
  const add = await openRequestShare(client, POLICY, context)
  const userCode = await addUserCode(hash, expiresAt, add, context)
  await add({ hash, kind: KIND, content, expiresAt })
  return { deviceCode, userCode }
}

/** One that another device has, or had not long ago, is not given again. */
async function addUserCode(
  of: string,
  expiresAt: Date,
  add: AddTicket,
  context: ServerContext,
): Promise<string> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const userCode = newUserCode()
    const [hash = ''] = userCodeHashes(userCode, context)
    if (await add({ hash, kind: USER_CODE, content: of, expiresAt })) return userCode
  }
  throw new TemporarilyUnavailable('There is no free code for a device right now')
}

export async function findByUserCode(
  userCode: string,
  context: ServerContext,
): Promise<FoundRequest | null> {
  for (const hash of userCodeHashes(userCode, context)) {
    const ticket = await context.storage.tickets.find(hash)
    if (!ticket) continue
    const { content, holder } = ticket
    // Somebody has it before their eyes, so it is evicted no more.
    if (holder !== null) await context.storage.tickets.change(hash, content, content, USED)
    return findDeviceRequest(content, context)
  }
  return null
}

/** One that has expired is found, so the device can be told. */
export async function findDeviceRequest(
  hash: string,
  { storage }: ServerContext,
): Promise<FoundRequest | null> {
  const ticket = await storage.tickets.find(hash)
  return ticket && foundIn(ticket)
}

function foundIn({ hash, expiresAt, content }: Ticket): FoundRequest {
  return { hash, expiresAt, request: JSON.parse(content) }
}

/**
 * Changes a request by what `decide` makes of it, in one step whoever else is at it: the device polls while the
 * person decides. Null when it is gone, or when `decide` gives null.
 */
export async function changeDeviceRequest(
  hash: string,
  decide: (found: FoundRequest) => DeviceRequest | null,
  { storage }: ServerContext,
  also: TicketChange = {},
): Promise<DeviceRequest | null> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const ticket = await storage.tickets.find(hash)
    const after = ticket && decide(foundIn(ticket))
    if (!ticket || !after) return null
    const content = JSON.stringify(after)
    if (await storage.tickets.change(hash, ticket.content, content, also)) return after
  }
  throw new TemporarilyUnavailable('This device is being used by others at this moment')
}

/** Whether a person may still be asked about it. */
export function isOpen({ request, expiresAt }: FoundRequest, { clock }: ServerContext): boolean {
  return request.decision === null && expiresAt.getTime() > clock.now().getTime()
}

/** Counts that its code was typed. Null when nobody is to be asked (any more). */
export function openDeviceRequest(
  hash: string,
  context: ServerContext,
): Promise<DeviceRequest | null> {
  const decide = (found: FoundRequest) => {
    const { request } = found
    if (!isOpen(found, context) || request.openings >= MOST_OPENINGS) return null
    return { ...request, openings: request.openings + 1 }
  }
  return changeDeviceRequest(hash, decide, context, USED)
}

/** Of all who answer, one does: false when it was answered before, or has ended. */
export async function answerDeviceRequest(
  hash: string,
  decision: DeviceDecision,
  context: ServerContext,
): Promise<boolean> {
  const decide = (found: FoundRequest) =>
    isOpen(found, context) ? { ...found.request, decision } : null
  return (await changeDeviceRequest(hash, decide, context, USED)) !== null
}
