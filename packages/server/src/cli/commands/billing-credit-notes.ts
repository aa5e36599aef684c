import { money, toDecimal } from '@tollgate/billing'
import {
  CREDIT_NOTE_REASONS,
  CREDIT_NOTE_TO,
  type CreditNoteJson,
} from '../../admin/operations/credit-notes.ts'
import type { InvoiceDetailJson } from '../../admin/operations/invoices.ts'
import { chooseIdempotencyKey, parseAmount } from '../amount.ts'
import { type Commands, command } from '../command.ts'
import * as option from '../options.ts'
import { formatTable } from '../table.ts'
import { ACCOUNT, withAccount } from './user.ts'

/** Commands about credit notes. */
export const creditNoteCommands: Commands = {
  'billing credit-notes list': command({
    summary: 'list the credit notes of a person, newest first',
    arguments: [ACCOUNT],
    run: ({ args }, context) =>
      withAccount(args, context, async ({ id }, { perform }) => {
        const { data } = await perform<{ data: readonly CreditNoteJson[] }>(
          'billing.listCreditNotes',
          { id },
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
    arguments: [
      ACCOUNT,
      { name: 'invoice', description: "the provider's id of the invoice" },
      { name: 'to', description: `where the money goes: ${CREDIT_NOTE_TO.join(', ')}` },
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
    },
    run: ({ args, options: { amount, reason, memo, ofRefund, idempotencyKey: key } }, context) =>
      withAccount(args, context, async ({ id, email }, { perform }) => {
        const [, invoice, to] = args
        const found = await perform<InvoiceDetailJson>('billing.getInvoice', { id, invoice })
        const part = amount === null ? null : parseAmount(amount, found.total.currency)
        const issued = await perform<CreditNoteJson>(
          'billing.issueCreditNote',
          {
            id,
            invoice,
            to,
            ...(part !== null && { amount: part }),
            ...(reason !== null && { credit_reason: reason }),
            ...(memo !== null && { memo }),
            ...(ofRefund !== null && { of_refund: ofRefund }),
          },
          chooseIdempotencyKey(key, context),
        )
        const text = `Issued the credit note ${issued.number} over ${formatMoney(issued.total)} to ${email} (${id}).`
        return { json: issued, text }
      }),
  }),
}

function formatMoney({ amount, currency }: CreditNoteJson['total']): string {
  return `${toDecimal(money(amount, currency))} ${currency}`
}
