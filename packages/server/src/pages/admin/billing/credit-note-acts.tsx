import type { FC } from 'hono/jsx'
import {
  CREDIT_NOTE_DESTINATIONS,
  CREDIT_NOTE_REASONS,
} from '../../../admin/operations/credit-notes.ts'
import { Choice, TextField } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'
import type { BillingAction } from './action.tsx'
import { AmountField, InvoiceDetails, readAmount } from './billing-fields.tsx'
import { readInvoice } from './owner-data.ts'

/** The act that issues a credit note, by the last part of the URL path. */
export const CREDIT_NOTE_ACTIONS: Readonly<Record<string, BillingAction>> = {
  'credit-note': {
    operation: 'billing.issueCreditNote',
    done: 'credit-note-issued',
    texts: 'people.creditNote',
    input: (form, invoice) => ({
      invoice,
      to: form.get('to') ?? '',
      ...(form.get('amount')?.trim() && { amount: readAmount(form) }),
      ...(form.get('reason') && { credit_reason: form.get('reason') }),
      ...(form.get('memo')?.trim() && { memo: form.get('memo') }),
    }),
    async decisions({ c, payer, object: invoice, form }) {
      const found = await readInvoice(c, payer.owner, invoice)
      return (
        <>
          <InvoiceDetails invoice={found} />
          <AmountField
            currency={found.total.currency}
            value={form?.get('amount') ?? ''}
            hint={c.get('page').t('people.creditNote.amount')}
          />
          <Destination chosen={form?.get('to') ?? 'refund'} />
          <Reason chosen={form?.get('reason') ?? ''} />
          <TextField
            id="memo"
            label={c.get('page').t('people.creditNote.memo')}
            input={{ name: 'memo', maxlength: 500, value: form?.get('memo') ?? '' }}
          />
        </>
      )
    },
  },
}

const Destination: FC<{ chosen: string }> = ({ chosen }) => {
  const { t } = usePage()
  return (
    <fieldset>
      <legend>{t('people.creditNote.to')}</legend>
      {CREDIT_NOTE_DESTINATIONS.map((name) => (
        <Choice
          id={`to-${name}`}
          type="radio"
          name="to"
          value={name}
          title={t(`people.creditNote.to.${name}`)}
          checked={name === chosen}
        />
      ))}
    </fieldset>
  )
}

const Reason: FC<{ chosen: string }> = ({ chosen }) => {
  const { t } = usePage()
  return (
    <div class="field">
      <label for="reason">{t('people.reason')}</label>
      <select id="reason" name="reason">
        <option value="">{t('people.reason.none')}</option>
        {CREDIT_NOTE_REASONS.map((name) => (
          <option value={name} selected={name === chosen}>
            {t(`people.creditReason.${name}`)}
          </option>
        ))}
      </select>
    </div>
  )
}
