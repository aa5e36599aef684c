import {
  AmountTooLarge,
  ChargeNotFound,
  InvalidAmount,
  RefundNotPossibleYet,
  RefundRefused,
} from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { beginOperation, finishOperation, recordEvent, runOperation } from '../../core/operation.ts'
import type { OperationIntent } from '../../core/storage/operations.ts'
import type { UserScopeWith } from '../../core/user-scope.ts'
import { requireOneOf, requireText } from '../../core/values/arguments.ts'
import { formatMoney, type Money, money, requireAmount } from '../../core/values/money.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { withExistingCustomer } from '../customers/customer.ts'
import { buildRefundCreatedEvent } from '../invoices/events.ts'
import type { InvoiceData } from '../invoices/invoice.ts'
import type { PaymentRefunds, RefundablePayment } from './contract.ts'
import { REFUND_REASONS, type Refund, type RefundOptions, type RefundReason } from './refund.ts'

/** A charge, and how much of it was credited instead of refunded. */
interface Charge extends RefundablePayment {
  readonly credited: number
}

interface WantedRefund {
  readonly customerId: string
  readonly charge: Charge
  /** The amount to refund. `null` refunds all that is left. */
  readonly amount: Money | null
  readonly reason: RefundReason | null
}

/**
 * Returns the id from a charge id, or from an object with an id that `refund()` accepts, such as an
 * invoice.
 */
export function toChargeId(charge: string | { readonly id: string }): string {
  return requireText('charge', typeof charge === 'object' ? charge?.id : charge)
}

export async function refundCharge(
  user: UserScopeWith<'refunds'>,
  id: string,
  { amount, reason, idempotencyKey }: RefundOptions,
): Promise<Refund> {
  if (idempotencyKey !== undefined) requireText('idempotency key', idempotencyKey)
  if (reason !== undefined) requireOneOf('reason', reason, REFUND_REASONS)
  const gateway = await user.gateway()
  const part = amount === undefined ? null : requireAmount(amount, gateway.toMoney)
  return withExistingCustomer(user, async (locked, customerId) => {
    const charge = await requireCharge(user, id, customerId)
    requireCurrency(charge, part)
    const wanted = { customerId, charge, amount: part, reason: reason ?? null }
    return refundWithOperation(user, locked, wanted, idempotencyKey)
  })
}

/**
 * Returns how much of an invoice was refunded. Zero if no charge was made for it, because the
 * customer's credit paid it.
 */
export async function readRefundedAmount(
  user: UserScopeWith<'refunds'>,
  { id, currency }: InvoiceData,
): Promise<Money> {
  const { refunds } = await user.gateway()
  const charge = await refunds.find(id, await user.requireCustomerId())
  return charge?.refunded ?? money(0, currency)
}

async function requireCharge(
  user: UserScopeWith<'refunds'>,
  id: string,
  customerId: string,
): Promise<Charge> {
  const gateway = await user.gateway()
  const found = await gateway.refunds.find(id, customerId)
  const credited = found && (await gateway.refunds.creditedOf?.(found))
  if (found) return { ...found, credited: credited?.amount ?? 0 }
  const invoice = await gateway.findInvoice(id, customerId, await user.createChargeTaxLookup())
  if (!invoice?.paid) throw new ChargeNotFound('There is no such charge')
  throw new ChargeNotFound(
    `Nothing was charged for the invoice ${invoice.number}: credit paid it, or its total is zero. To return credit, use invoice.creditNote({ to: 'balance' })`,
  )
}

function requireCurrency({ amount: { currency } }: Charge, partialAmount: Money | null): void {
  if (partialAmount === null || partialAmount.currency === currency) return
  throw new InvalidAmount(
    `The charge is in ${currency.toUpperCase()}, not ${partialAmount.currency.toUpperCase()}`,
  )
}

/**
 * Refunds with a stored operation. A call that is repeated after a lost response returns the refund
 * that was made, with the reason that was first given. Without a key from the caller, the
 * operation's id is the key.
 */
async function refundWithOperation(
  user: UserScopeWith<'refunds'>,
  locked: LockedOwner,
  requestedRefund: WantedRefund,
  key: string | undefined,
): Promise<Refund> {
  const { context, owner, provider } = user
  const { amount, reason } = requestedRefund
  const same = { provider, charge: requestedRefund.charge.charge, amount, ...(key ? { key } : {}) }
  const intent: OperationIntent = { owner, kind: 'refund', request: { ...same, reason }, same }
  const before = await context.operations.find(intent)
  const operation = before ?? (await beginOperation(context, locked, intent))
  return runOperation(context, locked, operation, async () => {
    // Repeats the first request unchanged: the provider rejects a different request under the same
    // key.
    const first = { ...requestedRefund, reason: operation.request.reason as RefundReason | null }
    const noted = before ? first.reason : null
    const made = await refundOnce(user, locked, first, { key: key ?? operation.id, noted })
    await finishOperation(context, locked, operation)
    return made
  })
}

async function refundOnce(
  user: UserScopeWith<'refunds'>,
  locked: LockedOwner,
  { customerId, charge, amount, reason }: WantedRefund,
  { key, noted }: { readonly key: string; readonly noted: RefundReason | null },
): Promise<Refund> {
  const gateway = await user.gateway()
  const done = await findEarlierRefund(gateway.refunds, charge, amount, key)
  if (done === 'another') {
    throw new RefundRefused('This idempotency key was used for a different refund', {
      provider: user.provider,
      providerCode: null,
    })
  }
  // A refund that is found may have been made by a process that was killed before it emitted the
  // event.
  if (!done) requireLeft(user, charge, amount)
  // Without an amount the provider would refund the whole charge.
  const part = amount ?? (charge.credited > 0 ? computeRefundableAmount(charge) : null)
  const made =
    (done?.status === 'voided' ? await addRefundReason(user, done, noted) : done) ??
    (await locked.change(user.provider, (changing) =>
      requireGatewayPart(changing, 'refunds').create({
        customerId,
        charge: charge.charge,
        amount: part,
        reason,
        key,
      }),
    ))
  if (made.status !== 'failed')
    await recordEvent(user.context, locked, buildRefundCreatedEvent(user, made))
  return made
}

/**
 * Adds the reason to a voided charge, which cannot store it: from the `refund.created` event if
 * there is one, otherwise from our operation.
 */
async function addRefundReason(
  user: UserScopeWith<'refunds'>,
  voided: Refund,
  storedReason: RefundReason | null,
): Promise<Refund> {
  const { subject } = buildRefundCreatedEvent(user, voided)
  const told = await user.context.events.findAbout('refund.created', subject)
  if (!told) return { ...voided, reason: storedReason }
  const { reason } = told.data.refund
  return { ...voided, reason: REFUND_REASONS.find((each) => each === reason) ?? null }
}

/**
 * Finds the refund that a repeated call returns: the refund with the same key, or the refund of a
 * charge that was refunded completely.
 */
async function findEarlierRefund(
  refunds: Pick<PaymentRefunds, 'findByKey' | 'list'>,
  charge: Charge,
  amount: Money | null,
  key: string,
): Promise<Refund | 'another' | null> {
  const left = computeRefundableAmount(charge)
  const made = await refunds.findByKey(charge.charge, key)
  if (made) {
    const isSame = amount === null ? left.amount === 0 : made.amount.amount === amount.amount
    return isSame || made.status === 'failed' ? made : 'another'
  }
  const isWhole = amount === null || amount.amount === charge.amount.amount
  if (!isWhole || left.amount > 0) return null
  const newest = (await refunds.list(charge.charge)).find(({ status }) => status !== 'failed')
  if (!newest) return null
  return amount === null || newest.amount.amount === amount.amount ? newest : null
}

function computeRefundableAmount({ amount, refunded, credited }: Charge): Money {
  return money(Math.max(0, amount.amount - refunded.amount - credited), amount.currency)
}

/** Rejects a refund that is known to fail, before any request that changes something. */
function requireLeft(user: UserScopeWith<'refunds'>, charge: Charge, amount: Money | null): void {
  const left = computeRefundableAmount(charge)
  const isNothing = left.amount === 0 && charge.credited > 0
  if (isNothing || (amount !== null && amount.amount > left.amount))
    throw createAmountTooLarge(charge, left)
  const isPart = charge.credited > 0 || (amount !== null && amount.amount < charge.amount.amount)
  if (charge.isRefundableInPart) return
  if (charge.isVoidable === false) {
    throw new RefundNotPossibleYet(
      'The payment is still pending: refund it once it has succeeded',
      {
        provider: user.provider,
        providerCode: null,
      },
    )
  }
  if (!isPart) return
  throw new RefundNotPossibleYet(
    'The charge is not settled yet: refund all of it now, or a part once it is settled',
    { provider: user.provider, providerCode: null },
  )
}

function createAmountTooLarge({ amount, credited }: Charge, left: Money): AmountTooLarge {
  const given = formatMoney(money(credited, amount.currency))
  const why = credited > 0 ? `: ${given} of it was returned in other ways, such as credit` : ''
  return new AmountTooLarge(`Only ${formatMoney(left)} of the charge can still be refunded${why}`)
}
