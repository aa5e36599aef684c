import {
  AmountTooLarge,
  CreditNoteNotFound,
  InvalidAmount,
  InvalidArgument,
  InvoiceNotFound,
  ProviderRejected,
} from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { beginOperation, finishOperation, recordEvent, runOperation } from '../../core/operation.ts'
import type { OperationRequest } from '../../core/storage/tables.ts'
import type { UserScopeWith } from '../../core/user-scope.ts'
import { requireCount, requireOneOf, requireText } from '../../core/values/arguments.ts'
import { formatMoney, money, requireAmount } from '../../core/values/money.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { withExistingCustomer } from '../customers/customer.ts'
import { withOwnerLocale } from '../customers/locale-of.ts'
import { type DownloadOptions, downloadCreditNotePdf } from '../invoices/download.ts'
import { buildCreditNoteCreatedEvent } from '../invoices/events.ts'
import type { InvoiceData } from '../invoices/invoice.ts'
import type { CreditNotes, NewCreditNote } from './contract.ts'
import {
  CreditNote,
  type CreditNoteData,
  type CreditNoteOptions,
  type CreditNoteReason,
  type CreditNoteTo,
} from './credit-note.ts'

/** Options for `creditNotes()`. */
export interface CreditNoteListOptions {
  /** Maximum number of credit notes, newest first. Default: all. */
  readonly limit?: number
}

type User = UserScopeWith<'creditNotes'>
type RequestedCreditNote = Omit<NewCreditNote, 'key'>

const CREDIT_NOTE_DESTINATIONS: readonly CreditNoteTo[] = ['refund', 'balance', 'outside']
const REASONS: readonly CreditNoteReason[] = [
  'duplicate',
  'fraudulent',
  'order_change',
  'product_unsatisfactory',
]

export async function listCreditNotes(
  user: User,
  { limit }: CreditNoteListOptions,
): Promise<CreditNote[]> {
  const count = limit === undefined ? null : requireCount(limit)
  const customerId = await user.findCustomerId()
  if (customerId === null) return []
  const { creditNotes } = await user.gateway()
  return (await creditNotes.list(customerId, count)).map((data) => new CreditNote(data))
}

export async function findCreditNote(user: User, id: string): Promise<CreditNote | null> {
  const customerId = await user.findCustomerId()
  if (customerId === null) return null
  const data = await (await user.gateway()).creditNotes.find(id, customerId)
  return data && new CreditNote(data)
}

export async function downloadCreditNote(
  user: User,
  id: string,
  options: DownloadOptions,
): Promise<Response> {
  const found = await findCreditNote(user, id)
  if (!found) throw new CreditNoteNotFound('There is no such credit note')
  return downloadCreditNotePdf(found, await withOwnerLocale(user, options))
}

export async function issueCreditNote(
  user: User,
  invoice: InvoiceData,
  options: CreditNoteOptions,
): Promise<CreditNote> {
  const { idempotencyKey } = options
  if (idempotencyKey !== undefined) requireText('idempotency key', idempotencyKey)
  const asked = await toRequestedCreditNote(user, invoice, options)
  const data = await withExistingCustomer(user, (locked, customerId) => {
    const wanted = { ...asked, customerId }
    return idempotencyKey === undefined
      ? issueNoteWithOperation(user, locked, wanted)
      : issueNoteOnce(user, locked, { ...wanted, key: idempotencyKey })
  })
  return new CreditNote(data)
}

async function toRequestedCreditNote(
  user: User,
  { id: invoice, currency }: InvoiceData,
  { to, amount, lines, refund, reason, memo }: CreditNoteOptions,
): Promise<Omit<RequestedCreditNote, 'customerId'>> {
  requireOneOf('to', to, CREDIT_NOTE_DESTINATIONS)
  if (reason !== undefined) requireOneOf('reason', reason, REASONS)
  if (memo !== undefined) requireText('memo', memo)
  if (refund !== undefined) requireText('refund', refund)
  if (amount !== undefined && lines !== undefined) {
    throw new InvalidArgument('A credit note takes `amount` or `lines`, not both')
  }
  for (const { line, quantity } of lines ?? []) {
    requireText('line', line)
    if (quantity !== undefined) requireCount(quantity)
  }
  const gateway = await user.gateway()
  const part = amount === undefined ? null : requireAmount(amount, gateway.toMoney)
  if (part !== null && part.currency !== currency) {
    throw new InvalidAmount(
      `The invoice is in ${currency.toUpperCase()}, not ${part.currency.toUpperCase()}`,
    )
  }
  const of = part ?? (lines === undefined || lines.length === 0 ? null : lines)
  const words = { reason: reason ?? null, memo: memo ?? null }
  return { invoice, of, to, refund: refund ?? null, ...words }
}

/**
 * Issues the credit note with a stored operation, whose id is the idempotency key. A repeated call
 * after a lost response then finds the first note.
 */
async function issueNoteWithOperation(
  user: User,
  locked: LockedOwner,
  noteToIssue: RequestedCreditNote,
): Promise<CreditNoteData> {
  const { context, owner, provider } = user
  const { invoice, of, to, refund = null, reason, memo } = noteToIssue
  const same = { provider, invoice, of, to, ...(refund === null ? {} : { refund }) }
  const request = { ...same, reason, memo }
  const operation = await beginOperation(context, locked, {
    owner,
    kind: 'credit_note',
    request,
    same,
  })
  return runOperation(context, locked, operation, async () => {
    // Sends the reason and memo of the first call: other parameters under the same key would be
    // rejected.
    const first = operation.request as OperationRequest &
      Pick<RequestedCreditNote, 'reason' | 'memo'>
    const note = { ...noteToIssue, reason: first.reason, memo: first.memo, key: operation.id }
    const made = await issueNoteOnce(user, locked, note)
    await finishOperation(context, locked, operation)
    return made
  })
}

async function issueNoteOnce(
  user: User,
  locked: LockedOwner,
  note: NewCreditNote,
): Promise<CreditNoteData> {
  const { creditNotes } = await user.gateway()
  const before = await creditNotes.findByKey(note.invoice, note.key)
  const done = before
    ? requireSameCreditNote(user, before, note)
    : await findWholeInvoiceCreditNote(user, creditNotes, note)
  const made =
    done ??
    (await locked.change(user.provider, (gateway) =>
      requireGatewayPart(gateway, 'creditNotes').create(note),
    ))
  // Emitted on repeats too: a process may have crashed between issuing the note and recording the
  // event.
  await recordEvent(user.context, locked, buildCreditNoteCreatedEvent(user, made))
  return made
}

function requireSameCreditNote(
  user: User,
  earlierCreditNote: CreditNoteData,
  { of }: NewCreditNote,
): CreditNoteData {
  if (of === null || coversSamePart(earlierCreditNote, of)) return earlierCreditNote
  throw new ProviderRejected('This idempotency key was used for a different credit note', {
    provider: user.provider,
    providerCode: null,
  })
}

function coversSamePart(
  { total, creditedLines }: CreditNoteData,
  of: NonNullable<RequestedCreditNote['of']>,
): boolean {
  if ('amount' in of) return of.amount === total
  if (creditedLines === undefined) return true
  return (
    of.length === creditedLines.length &&
    of.every(({ line, quantity }) => {
      const credited = creditedLines.find((each) => each.line === line)
      return credited && (quantity === undefined || quantity === credited.quantity)
    })
  )
}

/**
 * Returns the note that credited the last remaining amount, for a repeated call that credits the
 * whole invoice.
 * @throws AmountTooLarge if less is left than requested.
 */
async function findWholeInvoiceCreditNote(
  user: User,
  creditNotes: Pick<CreditNotes, 'listByInvoice' | 'left'>,
  { invoice: id, customerId, of, refund = null }: NewCreditNote,
): Promise<CreditNoteData | null> {
  const invoice = await (await user.gateway()).findInvoice(
    id,
    customerId,
    await user.createChargeTaxLookup(),
  )
  if (!invoice) throw new InvoiceNotFound('There is no such invoice')
  const { ofInvoice, ofRefund } = await creditNotes.left(id, refund)
  const left = ofInvoice + ofRefund
  const isTooMuch = of === null ? left <= 0 : 'amount' in of && of.amount > left
  if (of === null && (refund === null ? left : ofRefund) <= 0) {
    const notes = (await creditNotes.listByInvoice(id)).filter(({ isVoid }) => !isVoid)
    const last = notes.find((note) => refund === null || note.refunds?.includes(refund))
    if (last) return last
  }
  if (!isTooMuch) return null
  const rest = formatMoney(money(left, invoice.currency))
  throw new AmountTooLarge(
    `Only ${rest} of the invoice can still be credited; to document an earlier refund, pass its id as 'refund'`,
  )
}
