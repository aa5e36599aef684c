import type { CreditNote } from '@tollgate/billing'
import { z } from 'zod'
import { type Operation, operation } from '../operation.ts'
import { moneyShape, positiveMoney, requireRepeatKey } from './billing-fields.ts'
import { instant, nameSchema } from './fields.ts'
import { describeInvoice, invoiceId, requireInvoice } from './invoices.ts'
import { owner, requireBillable, requireBillableTarget } from './owners.ts'

export const CREDIT_NOTE_DESTINATIONS = ['refund', 'balance', 'outside'] as const
export const CREDIT_NOTE_REASONS = [
  'duplicate',
  'fraudulent',
  'order_change',
  'product_unsatisfactory',
] as const

const creditNoteShape = z.strictObject({
  id: z.string().describe("The provider's id of the credit note"),
  number: z.string().describe('The number printed on the credit note'),
  invoice: z.string().describe("The provider's id of the credited invoice"),
  invoice_number: z.string(),
  date: instant,
  total: moneyShape,
  refunded: moneyShape.describe('The part that went back to the card'),
  to_balance: moneyShape.describe("The part that was added to the customer's balance"),
  outside: moneyShape.describe('The part that is returned outside the provider'),
  reason: z.enum(CREDIT_NOTE_REASONS).nullable(),
  memo: z.string().nullable(),
  void: z.boolean(),
})
nameSchema('CreditNote', creditNoteShape)

export type CreditNoteJson = z.output<typeof creditNoteShape>

function creditNoteJson({ data }: CreditNote): CreditNoteJson {
  const { id, number, invoice, invoiceNumber, date, currency, givenBack, reason, memo } = data
  const of = (amount: number) => ({ amount, currency })
  return {
    id,
    number,
    invoice,
    invoice_number: invoiceNumber,
    date: date.toISOString(),
    total: of(data.total),
    refunded: of(givenBack.refunded),
    to_balance: of(givenBack.toBalance),
    outside: of(givenBack.outside),
    reason,
    memo,
    void: data.isVoid,
  }
}

/** Operations on credit notes: documents that reverse an invoice, in full or in part. */
export const creditNoteOperations: readonly Operation[] = [
  operation({
    name: 'billing.listCreditNotes',
    summary: 'List the credit notes of a person or team, newest first',
    description: 'At most the newest 100. Empty at a provider that has no credit notes.',
    route: ['GET', '/users/{owner}/credit-notes'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ owner }),
    output: z.strictObject({ data: z.array(creditNoteShape) }),
    async run({ owner }, context) {
      const user = await requireBillable(owner, context)
      const found = user.can('creditNotes') ? await user.creditNotes({ limit: 100 }) : []
      return { data: found.map(creditNoteJson) }
    },
  }),
  operation({
    name: 'billing.issueCreditNote',
    summary: 'Credit an invoice, fully or partially, with a document for the person or team',
    description:
      'Without `amount`, everything that can still be credited is credited. The unpaid part of an invoice is only reduced. To document a refund that was already made, pass its id as `of_refund`; no money is returned twice. Fails with `conflict` at a provider that has no credit notes.',
    route: ['POST', '/users/{owner}/invoices/{invoice}/credit-notes'],
    role: 'support',
    effect: 'irreversible',
    commits: 'in-steps',
    needsKey: true,
    input: z.strictObject({
      owner,
      invoice: invoiceId,
      to: z
        .enum(CREDIT_NOTE_DESTINATIONS)
        .describe(
          'Where the paid money goes: back to the card (`refund`), to the balance of the customer, or outside the provider',
        ),
      amount: positiveMoney.optional(),
      credit_reason: z.enum(CREDIT_NOTE_REASONS).optional().describe('Passed on to the provider'),
      memo: z.string().trim().min(1).max(500).optional().describe('Printed on the credit note'),
      of_refund: z
        .string()
        .regex(/^\w{1,100}$/, 'Expected the id of a refund at its provider.')
        .optional()
        .describe('The id of an earlier refund that the credit note documents'),
    }),
    output: creditNoteShape,
    describe({ memo, ...input }, result) {
      const { subject, details } = describeInvoice(input)
      return {
        ...(subject && { subject }),
        details: { ...details, ...(result && { credit_note: result.id }) },
        ...(memo !== undefined && { personal: { memo } }),
      }
    },
    async run({ owner, invoice, to, amount, credit_reason: reason, memo, of_refund }, context) {
      const user = await requireBillableTarget(owner, context)
      const found = await requireInvoice(user, invoice)
      const issued = await found.creditNote({
        to,
        idempotencyKey: requireRepeatKey(context),
        ...(amount === undefined ? {} : { amount }),
        ...(reason === undefined ? {} : { reason }),
        ...(memo === undefined ? {} : { memo }),
        ...(of_refund === undefined ? {} : { refund: of_refund }),
      })
      return creditNoteJson(issued)
    },
  }),
]
