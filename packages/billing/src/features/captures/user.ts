import type { ResumeOperation } from '../../core/context.ts'
import {
  AmountTooLarge,
  AuthorizationNotOpen,
  ChargeNotFound,
  InvalidAmount,
} from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { beginOperation, finishOperation, runOperation } from '../../core/operation.ts'
import type { PendingOperation } from '../../core/storage/operations.ts'
import { LoadedOwner, UserScope, type UserScopeWith } from '../../core/user-scope.ts'
import { requireText } from '../../core/values/arguments.ts'
import { type Amount, formatMoney, type Money, requireAmount } from '../../core/values/money.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { withExistingCustomer } from '../customers/customer.ts'
import { buildInvoicePaidEvent } from '../invoices/events.ts'
import type { CardAuthorization } from './contract.ts'

/** Options for `capture()`. */
export interface CaptureOptions {
  /**
   * Amount to capture; the rest of the authorized amount is released. Default: the whole authorized
   * amount.
   */
  readonly amount?: Amount
}

export async function findAuthorization(
  user: UserScopeWith<'captures'>,
  id: string,
): Promise<CardAuthorization | null> {
  const customerId = await user.findCustomerId()
  return customerId === null ? null : (await user.gateway()).captures.find(id, customerId)
}

export async function captureAuthorization(
  user: UserScopeWith<'captures'>,
  id: string,
  { amount }: CaptureOptions,
): Promise<CardAuthorization> {
  const gateway = await user.gateway()
  const part = amount === undefined ? null : requireAmount(amount, gateway.toMoney)
  return withExistingCustomer(user, async (locked, customerId) => {
    const { context, owner, provider } = user
    const before = await requireAuthorization(user, id, customerId)
    const wanted = requireWithin(before, part)
    if (before.status !== 'captured') requireState(before, 'authorized')
    const request = { provider, charge: id, amount: wanted }
    const operation = await beginOperation(context, locked, { owner, kind: 'capture', request })
    return runOperation(context, locked, operation, async () => {
      const now = await locked.change(provider, (changing) =>
        requireGatewayPart(changing, 'captures').capture(id, wanted),
      )
      // Another process has captured or released it, or this is a repeat with another amount.
      if (now.status !== 'captured' || now.captured.amount !== wanted.amount) {
        throw createNotOpenError(now)
      }
      await finishCaptured(user, locked, operation, id)
      return now
    })
  })
}

export async function releaseAuthorizedAmount(
  user: UserScopeWith<'captures'>,
  id: string,
): Promise<CardAuthorization> {
  return withExistingCustomer(user, async (locked, customerId) => {
    await requireAuthorization(user, id, customerId)
    // Not recorded as an operation: the provider's object shows whether it was released, and no
    // event has to be emitted.
    const now = await locked.change(user.provider, (changing) =>
      requireGatewayPart(changing, 'captures').release(id),
    )
    if (now.status === 'captured') throw createNotOpenError(now)
    return now
  })
}

/**
 * Completes a capture that a crash interrupted, by emitting its events. If the capture never
 * reached the provider, the stored operation stays until the application repeats the call.
 */
export const resumeCapture: ResumeOperation = async (context, locked, operation) => {
  const { provider, charge } = operation.request
  const record = await context.owners.find(locked.owner)
  if (!record?.providerId || record.provider !== provider) return
  const { captures } = await locked.gateway(provider)
  const now = await captures?.find(String(charge), record.providerId)
  if (now?.status === 'authorized' || now?.status === 'pending') return
  const user = new UserScope(context, new LoadedOwner(context, record))
  if (now?.status === 'captured') await finishCaptured(user, locked, operation, now.id)
  else await finishOperation(context, locked, operation)
}

/**
 * Finishes the operation, and emits `invoice.paid` if the charge itself counts as an invoice, as at
 * Braintree. At Stripe, a captured charge has no invoice.
 */
async function finishCaptured(
  user: UserScope,
  locked: LockedOwner,
  operation: PendingOperation,
  id: string,
): Promise<void> {
  const { context } = user
  const invoice = context.events.isWanted('invoice.paid')
    ? await (await user.gateway()).findInvoice(
        id,
        await user.requireCustomerId(),
        await user.createChargeTaxLookup(),
      )
    : null
  await finishOperation(context, locked, operation, async (tx) => {
    if (invoice) await context.events.record(tx, buildInvoicePaidEvent(user, invoice))
  })
}

async function requireAuthorization(
  user: UserScopeWith<'captures'>,
  id: string,
  customerId: string,
): Promise<CardAuthorization> {
  const found = await (await user.gateway()).captures.find(requireText('charge', id), customerId)
  if (found) return found
  throw new ChargeNotFound('There is no such authorization')
}

/**
 * Returns the amount to capture.
 * @throws InvalidAmount if `part` is in another currency.
 * @throws AmountTooLarge if `part` is above the authorized amount.
 */
function requireWithin({ authorized }: CardAuthorization, part: Money | null): Money {
  if (part === null) return authorized
  if (part.currency !== authorized.currency) {
    throw new InvalidAmount(
      `The authorization is in ${authorized.currency.toUpperCase()}, not ${part.currency.toUpperCase()}`,
    )
  }
  if (part.amount <= authorized.amount) return part
  throw new AmountTooLarge(`Only ${formatMoney(authorized)} was authorized`)
}

function requireState(
  currentAuthorization: CardAuthorization,
  state: CardAuthorization['status'],
): void {
  if (currentAuthorization.status !== state) throw createNotOpenError(currentAuthorization)
}

const REASONS = {
  pending: 'The customer has not confirmed the payment yet',
  authorized: 'The authorization is still open',
  captured: 'The authorization was captured already',
  released: 'The authorization was released',
  expired: 'The authorization has expired: charge the customer again',
} as const

function createNotOpenError({ status, captured }: CardAuthorization): AuthorizationNotOpen {
  const taken = status === 'captured' ? `, with ${formatMoney(captured)}` : ''
  return new AuthorizationNotOpen(`${REASONS[status]}${taken}`, { reason: status })
}
