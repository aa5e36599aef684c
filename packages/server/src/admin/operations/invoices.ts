import type { BillableOwner, Invoice, Owner } from '@tollgate/billing'
import { z } from 'zod'
import type { AuditDescription } from '../audit/described.ts'
import { type Operation, operation } from '../operation.ts'
import { notFound } from '../problems.ts'
import { moneyShape, positiveMoney, requireRepeatKey, toMoneyJson } from './billing-fields.ts'
import { instant, nameSchema, pagedFields, pageShape, readPage } from './fields.ts'
import {
  formatOwner,
  owner,
  ownerJson,
  ownerShape,
  requireBillable,
  requireBillableTarget,
} from './owners.ts'

const STATUSES = ['paid', 'unpaid', 'void'] as const

const invoiceShape = z.strictObject({
  id: z.string().describe("The provider's id of the invoice"),
  ...ownerShape,
  provider: z.string(),
  number: z.string().describe('The number printed on the invoice, or its id'),
  date: instant,
  status: z.enum(STATUSES).describe('`unpaid` until the payment has settled'),
  total: moneyShape,
  amount_due: moneyShape.describe('Total after the balance of the customer is applied'),
  due_at: instant.nullable().describe('Due date. `null` if the invoice is charged automatically'),
})
nameSchema('Invoice', invoiceShape)

const detailShape = invoiceShape.extend({
  customer: z.strictObject({ name: z.string().nullable(), email: z.string().nullable() }),
  subtotal: moneyShape,
  discount: moneyShape,
  tax: moneyShape,
  refunded: moneyShape.describe('How much was refunded'),
  lines: z.array(
    z.strictObject({
      description: z.string(),
      amount: moneyShape,
      quantity: z.number().nullable(),
    }),
  ),
})
nameSchema('InvoiceDetail', detailShape)

export type InvoiceJson = z.output<typeof invoiceShape>
export type InvoiceDetailJson = z.output<typeof detailShape>

function invoiceJson(invoice: Invoice, owner: Owner): z.output<typeof invoiceShape> {
  const { id, number, data, amounts, dueAt } = invoice
  return {
    id,
    ...ownerJson(owner),
    provider: data.provider,
    number,
    date: data.date.toISOString(),
    status: invoice.voided ? 'void' : invoice.paid ? 'paid' : 'unpaid',
    total: toMoneyJson(amounts.total),
    amount_due: toMoneyJson(amounts.amountDue),
    due_at: dueAt?.toISOString() ?? null,
  }
}

async function detailJson(invoice: Invoice, owner: Owner): Promise<z.output<typeof detailShape>> {
  const { data, amounts } = invoice
  return {
    ...invoiceJson(invoice, owner),
    customer: { name: data.customer.name ?? null, email: data.customer.email ?? null },
    subtotal: toMoneyJson(amounts.subtotal),
    discount: toMoneyJson(amounts.discount),
    tax: toMoneyJson(amounts.tax),
    refunded: toMoneyJson(await invoice.refunded()),
    lines: data.lines.map(({ description, amount, quantity }) => ({
      description: description ?? '',
      amount: { amount, currency: data.currency },
      quantity,
    })),
  }
}

/** The last invoice of a page, and the number of invoices up to and including it. */
interface Position {
  readonly last: string
  readonly count: number
}

/**
 * Reads the invoices after a position. New invoices may have been created since the previous page
 * was read.
 */
async function readInvoices(
  user: BillableOwner,
  position: Position | null,
  limit: number,
): Promise<{ readonly invoice: Invoice; readonly count: number }[]> {
  const before = position?.count ?? 0
  const newest = await user.invoicesIncludingPending({ limit: before + limit })
  const at = newest.findIndex(({ id }) => id === position?.last)
  const start = at < 0 ? before : at + 1
  const missing = start - before
  const all = missing > 0 ? await user.invoicesIncludingPending({ limit: start + limit }) : newest
  return all.map((invoice, index) => ({ invoice, count: index + 1 })).slice(start, start + limit)
}

export const invoiceId = z
  .string()
  .regex(/^\w{1,100}$/, 'Expected the id of an invoice at its provider.')
  .describe("The provider's id of the invoice")

const invoicePathFields = { owner, invoice: invoiceId }

/** Finds an invoice of an owner. */
export async function requireInvoice(billable: BillableOwner, id: string): Promise<Invoice> {
  const found = await billable.findInvoice(id)
  if (!found) throw notFound('invoice', id)
  return found
}

export function describeInvoice(
  { owner, invoice, ...details }: { readonly owner: Owner; readonly invoice: string },
  result: object | null = null,
): AuditDescription {
  const made = result && 'refund' in result ? { refund: result.refund } : {}
  return {
    subject: { kind: 'invoice', id: invoice, owner: formatOwner(owner) },
    details: { ...details, ...made },
  }
}

/** Operations on invoices, which are read from the provider. */
export const invoiceOperations: readonly Operation[] = [
  operation({
    name: 'billing.listInvoices',
    summary: 'List the invoices of a person or team, newest first',
    description:
      'Lists paid and unpaid invoices, read from the provider; void invoices can only be found by id. Later pages take longer, because every page reads the list from its start.',
    route: ['GET', '/users/{owner}/invoices'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ owner, ...pagedFields }),
    output: pageShape(invoiceShape),
    async run({ owner, ...page }, context) {
      const user = await requireBillable(owner, context)
      const found = await readPage(page, `invoices ${formatOwner(owner)}`, context.cursors, {
        read: (position: Position | null, limit) => readInvoices(user, position, limit),
        positionOf: ({ invoice, count }) => ({ last: invoice.id, count }),
      })
      return { ...found, data: found.data.map(({ invoice }) => invoiceJson(invoice, owner)) }
    },
  }),
  operation({
    name: 'billing.findInvoices',
    summary: 'Find invoices of all people and teams by number or id',
    description:
      'Searches every provider. A new invoice can be found by its id immediately, but possibly not by its number for about a minute.',
    route: ['GET', '/invoices'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({
      number: z
        .string()
        .regex(/^[\w -]{1,100}$/, 'Expected the number or id of an invoice.')
        .describe('The number printed on the invoice, or its id'),
    }),
    output: z.strictObject({ data: z.array(invoiceShape) }),
    async run({ number }, { billing }) {
      const found = await (await billing.provider()).findInvoices(number)
      return { data: found.map(({ owner, invoice }) => invoiceJson(invoice, owner)) }
    },
  }),
  operation({
    name: 'billing.getInvoice',
    summary: 'Show an invoice of a person or team',
    route: ['GET', '/users/{owner}/invoices/{invoice}'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject(invoicePathFields),
    output: detailShape,
    async run({ owner, invoice }, context) {
      const user = await requireBillable(owner, context)
      return detailJson(await requireInvoice(user, invoice), owner)
    },
  }),
  operation({
    name: 'billing.refund',
    summary: 'Refund an invoice or another charge, fully or partially',
    description:
      'Without `amount`, the whole remaining amount is refunded. Some providers allow partial refunds only after the charge has settled.',
    route: ['POST', '/users/{owner}/invoices/{invoice}/refund'],
    role: 'support',
    effect: 'irreversible',
    commits: 'in-steps',
    needsKey: true,
    input: z.strictObject({
      ...invoicePathFields,
      invoice: invoiceId.describe("The provider's id of the invoice, or of the charge"),
      amount: positiveMoney.optional(),
      refund_reason: z
        .enum(['duplicate', 'fraudulent', 'requested_by_customer'])
        .optional()
        .describe('Passed on to the provider'),
    }),
    output: z.strictObject({
      refund: z.string().describe("The provider's id of the refund"),
      charge: z.string(),
      amount: moneyShape,
      status: z
        .enum(['succeeded', 'pending', 'failed', 'voided'])
        .describe('`voided`: the charge was cancelled before it was settled'),
    }),
    describe: describeInvoice,
    async run({ owner, invoice, amount, refund_reason: reason }, context) {
      const user = await requireBillableTarget(owner, context)
      const made = await user.refund(invoice, {
        idempotencyKey: requireRepeatKey(context),
        ...(amount === undefined ? {} : { amount }),
        ...(reason === undefined ? {} : { reason }),
      })
      const { id: refund, charge, status } = made
      return { refund, charge, amount: toMoneyJson(made.amount), status }
    },
  }),
  operation({
    name: 'billing.voidInvoice',
    summary: 'Void an unpaid invoice, so that it can no longer be paid',
    description:
      'Fails with `conflict` if the provider cannot void invoices. Voiding an invoice twice has no further effect.',
    route: ['POST', '/users/{owner}/invoices/{invoice}/void'],
    role: 'support',
    effect: 'irreversible',
    commits: 'in-steps',
    input: z.strictObject(invoicePathFields),
    output: invoiceShape,
    describe: (input) => describeInvoice(input),
    async run({ owner, invoice }, context) {
      const user = await requireBillableTarget(owner, context)
      const found = await requireInvoice(user, invoice)
      return invoiceJson(await found.void(), owner)
    },
  }),
]
