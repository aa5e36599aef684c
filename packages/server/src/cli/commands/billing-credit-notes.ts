import { money, toDecimal } from '@tollgate/billing'
import {
  CREDIT_NOTE_DESTINATIONS,
  CREDIT_NOTE_REASONS,
  type CreditNoteJson,
} from '../../admin/operations/credit-notes.ts'
import type { InvoiceDetailJson } from '../../admin/operations/invoices.ts'
import { chooseIdempotencyKey, parseAmount } from '../amount.ts'
import { type Commands, command } from '../command.ts'
import * as option from '../options.ts'
import { OWNER_OPTION, USER_ARGUMENT } from '../owner.ts'
import { withOwner } from '../subscription.ts'
import { formatTable } from '../table.ts'

/** Commands about credit notes. */
export const creditNoteCommands: Commands = {
  'billing credit-notes list': command({
    summary: 'list the credit notes of a person or another owner, newest first',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: { owner: OWNER_OPTION },
    run: ({ args: [user = ''], options }, context) =>
      withOwner({ user, ...options }, context, async ({ owner }, { perform }) => {
        const { data } = await perform<{ data: readonly CreditNoteJson[] }>(
          'billing.listCreditNotes',
          { owner },
        )
        const rows = data.map((each) => [
          each.id,
          each.number,
          each.invoice_number,
          formatMoney(each.total),
          each.date.slice(0, 10),
          each.void ? 'void' : '',
        ])
        const headers = ['ID', 'NUMBER', 'INVOICE', 'TOTAL', 'DATE', 'STATE']
        return { json: data, text: formatTable(headers, rows, 'There are no credit notes') }
      }),
  }),
  'billing credit-notes issue': command({
    summary: 'credit an invoice, fully or partially; this cannot be undone',
    withConfig: true,
    arguments: [
      USER_ARGUMENT,
      { name: 'invoice', description: "the provider's id of the invoice" },
      { name: 'to', description: `where the money goes: ${CREDIT_NOTE_DESTINATIONS.join(', ')}` },
    ],
    options: {
      amount: option.text(
        '<amount>',
        'part to credit, such as 12.50; without it, all that is left',
      ),
      reason: option.choice(CREDIT_NOTE_REASONS, '<name>', CREDIT_NOTE_REASONS.join(', ')),
      memo: option.text('<text>', 'printed on the credit note'),
      ofRefund: option.text('<id>', 'an earlier refund that the credit note documents'),
      idempotencyKey: option.text(
        '<key>',
        'idempotency key; repeat an interrupted command with the same key',
      ),
      owner: OWNER_OPTION,
    },
    run: ({ args: [user = '', invoice, to], options }, context) =>
      withOwner({ user, owner: options.owner }, context, async ({ owner, label }, { perform }) => {
        const { amount, reason, memo, ofRefund, idempotencyKey: key } = options
        const found = await perform<InvoiceDetailJson>('billing.getInvoice', { owner, invoice })
        const part = amount === null ? null : parseAmount(amount, found.total.currency)
        const issued = await perform<CreditNoteJson>(
          'billing.issueCreditNote',
          {
            owner,
            invoice,
            to,
            ...(part !== null && { amount: part }),
            ...(reason !== null && { credit_reason: reason }),
            ...(memo !== null && { memo }),
            ...(ofRefund !== null && { of_refund: ofRefund }),
          },
          chooseIdempotencyKey(key, context),
        )
        const text = `Issued the credit note ${issued.number} over ${formatMoney(issued.total)} to ${label}.`
        return { json: issued, text }
      }),
  }),
}

function formatMoney({ amount, currency }: CreditNoteJson['total']): string {
  return `${toDecimal(money(amount, currency))} ${currency}`
}
