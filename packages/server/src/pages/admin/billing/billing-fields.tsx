import { fromDecimal, isBillingError, type Money, money, toDecimal } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { getBillingTime } from '../../../dates.ts'
import { formatAmount } from '../../../messages/messages.ts'
import { TextField } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'
import { Day, Fact } from '../../parts/table.tsx'
import { type ActionView, InvalidField } from './action.tsx'
import type { InvoiceDetailJson } from './owner-data.ts'

const DAY_MS = 86_400_000
const REASONS = ['requested_by_customer', 'duplicate', 'fraudulent'] as const

/** Returns the part of an invoice's amount that has not been refunded. */
export function computeRemainingAmount({ total, refunded }: InvoiceDetailJson): Money {
  return money(total.amount - refunded.amount, total.currency)
}

/**
 * Reads the amount of a form, with a decimal point or comma. A fraction needs all decimals of the
 * currency, so that a separator of thousands is never taken for a decimal point: 1,250 is no amount
 * in dollars.
 */
export function readAmount(form: URLSearchParams): { amount: number; currency: string } {
  const text = (form.get('amount') ?? '').trim().replace(',', '.')
  try {
    const value = fromDecimal(text, form.get('currency') ?? '')
    const isExact = !text.includes('.') || text.replace(/^0+(?=\d)/, '') === toDecimal(value)
    if (value.amount > 0 && isExact) return { amount: value.amount, currency: value.currency }
  } catch (error) {
    if (!isBillingError(error)) throw error
  }
  throw new InvalidField('people.wrongAmount')
}

/** Reads the date in a form, and returns the start of that day in UTC. */
export function readDate(form: URLSearchParams): string {
  const date = new Date(`${form.get('date') ?? ''}T00:00:00.000Z`)
  if (Number.isNaN(date.getTime())) throw new InvalidField('people.wrongDate')
  return date.toISOString()
}

/** A form field for a day in the future. */
export const DateField: FC<{ view: ActionView; isOptional?: boolean }> = ({
  view: { c, form },
  isOptional = false,
}) => {
  const { t } = usePage()
  const tomorrow = new Date(getBillingTime(c.get('page').service).getTime() + DAY_MS)
  return (
    <TextField
      id="date"
      label={t(isOptional ? 'people.untilOptional' : 'people.until')}
      hint={t('people.until.hint')}
      input={{
        type: 'date',
        name: 'date',
        required: !isOptional,
        min: tomorrow.toISOString().slice(0, 10),
        value: form?.get('date') ?? '',
      }}
    />
  )
}

export const AmountField: FC<{
  currency: string
  value: string
  required?: boolean
  rest?: Money
  hint?: string
}> = ({ currency, value, required = false, rest, hint }) => {
  const { t } = usePage()
  return (
    <>
      <input type="hidden" name="currency" value={currency} />
      <TextField
        id="amount"
        label={t('people.amount', { currency: currency.toUpperCase() })}
        hint={
          hint ??
          (rest
            ? t('people.amount.rest', { amount: formatAmount(rest, t) })
            : t('people.amount.hint', { example: toDecimal(money(1250, currency)) }))
        }
        input={{ name: 'amount', inputmode: 'decimal', autocomplete: 'off', required, value }}
      />
    </>
  )
}

export const CouponField: FC<{ value: string }> = ({ value }) => (
  <TextField
    id="coupon"
    label={usePage().t('people.couponId')}
    hint={usePage().t('people.couponId.hint')}
    input={{ name: 'coupon', required: true, maxlength: 255, autocomplete: 'off', value }}
  />
)

export const PromotionCodeField: FC<{ value: string }> = ({ value }) => (
  <TextField
    id="code"
    label={usePage().t('people.promotionCode')}
    input={{ name: 'code', required: true, maxlength: 64, autocomplete: 'off', value }}
  />
)

export const DescriptionField: FC<{ value: string }> = ({ value }) => (
  <TextField
    id="description"
    label={usePage().t('people.description')}
    hint={usePage().t('people.description.hint')}
    input={{ name: 'description', maxlength: 255, autocomplete: 'off', value }}
  />
)

export const ReasonField: FC<{ value: string }> = ({ value }) => {
  const { t } = usePage()
  return (
    <div class="field">
      <label for="reason">{t('people.reason')}</label>
      <select id="reason" name="reason">
        <option value="">{t('people.reason.none')}</option>
        {REASONS.map((reason) => (
          <option value={reason} selected={reason === value}>
            {t(`people.reason.${reason}`)}
          </option>
        ))}
      </select>
    </div>
  )
}

export const InvoiceDetails: FC<{ invoice: InvoiceDetailJson }> = ({ invoice }) => {
  const { t } = usePage()
  const { number, date, total, refunded } = invoice
  return (
    <dl class="facts">
      <Fact term={t('people.invoice')}>{number}</Fact>
      <Fact term={t('invoices.date')}>
        <Day at={new Date(date)} />
      </Fact>
      <Fact term={t('invoices.amount')}>{formatAmount(total, t)}</Fact>
      {refunded.amount > 0 && <Fact term={t('people.refunded')}>{formatAmount(refunded, t)}</Fact>}
    </dl>
  )
}
