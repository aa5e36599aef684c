import { fromDecimal, isBillingError, type Money, money, toDecimal } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { billingNow } from '../../../dates.ts'
import { formatAmount } from '../../../messages/messages.ts'
import { TextField } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'
import { Day, Fact } from '../../parts/table.tsx'
import { runOperation } from '../parts.tsx'
import { type ActView, InvalidField, type PersonAct } from './person-act.tsx'
import type { CustomerJson, InvoiceDetailJson } from './person-data.ts'

const DAY_MS = 86_400_000
const REASONS = ['requested_by_customer', 'duplicate', 'fraudulent'] as const

const ofSubscription = (_form: URLSearchParams, subscription: string) => ({ subscription })

/** The actions on subscriptions, invoices and the balance, by the last part of the URL path. */
export const BILLING_ACTS: Readonly<Record<string, PersonAct>> = {
  sync: { operation: 'billing.sync', done: 'synced' },
  resume: { operation: 'billing.resume', done: 'resumed', input: ofSubscription },
  cancel: {
    operation: 'billing.cancel',
    done: 'cancelled',
    texts: 'people.cancel',
    input: ofSubscription,
  },
  'cancel-now': {
    operation: 'billing.cancelNow',
    done: 'ended',
    texts: 'people.cancelNow',
    input: ofSubscription,
  },
  'extend-trial': {
    operation: 'billing.extendTrial',
    done: 'trial-extended',
    texts: 'people.extendTrial',
    isHarmless: true,
    input: (form, subscription) => ({ subscription, trial_ends_at: readDate(form) }),
    decisions: (view) => <DateField view={view} />,
  },
  coupon: {
    operation: 'billing.applyCoupon',
    done: 'coupon-applied',
    texts: 'people.coupon',
    isHarmless: true,
    input: (form, subscription) => ({ subscription, coupon: form.get('coupon') ?? '' }),
    decisions: ({ form }) => <CouponField value={form?.get('coupon') ?? ''} />,
  },
  'remove-discounts': {
    operation: 'billing.removeDiscounts',
    done: 'discounts-removed',
    texts: 'people.removeDiscounts',
    input: ofSubscription,
  },
  comp: {
    operation: 'billing.comp',
    done: 'comped',
    texts: 'people.comp',
    isHarmless: true,
    input: (form) => ({ until: readDate(form) }),
    decisions: (view) => <DateField view={view} />,
  },
  'end-comp': {
    operation: 'billing.comp',
    done: 'comp-ended',
    texts: 'people.endComp',
    input: () => ({ until: null }),
  },
  credit: {
    operation: 'billing.credit',
    done: 'credited',
    texts: 'people.credit',
    isHarmless: true,
    input: (form) => ({
      amount: readAmount(form),
      ...(form.get('description') && { description: form.get('description') }),
    }),
    async decisions({ c, person, form }) {
      const customer = await runOperation<CustomerJson>(c, 'billing.getCustomer', { id: person.id })
      const { currency } = customer.balance ?? c.get('page').service.config.settings
      return (
        <>
          <AmountField currency={currency} value={form?.get('amount') ?? ''} required />
          <DescriptionField value={form?.get('description') ?? ''} />
        </>
      )
    },
  },
  refund: {
    operation: 'billing.refund',
    done: 'refunded',
    texts: 'people.refund',
    input: (form, invoice) => ({
      invoice,
      ...(form.get('amount')?.trim() && { amount: readAmount(form) }),
      ...(form.get('reason') && { refund_reason: form.get('reason') }),
    }),
    async decisions({ c, person, object: invoice, form }) {
      const input = { id: person.id, invoice }
      const found = await runOperation<InvoiceDetailJson>(c, 'billing.getInvoice', input)
      return (
        <>
          <InvoiceDetails invoice={found} />
          <AmountField
            currency={found.total.currency}
            value={form?.get('amount') ?? ''}
            rest={remainingOf(found)}
          />
          <ReasonField value={form?.get('reason') ?? ''} />
        </>
      )
    },
  },
  'void-invoice': {
    operation: 'billing.voidInvoice',
    done: 'invoice-voided',
    texts: 'people.voidInvoice',
    input: (_form, invoice) => ({ invoice }),
    async decisions({ c, person, object: invoice }) {
      const input = { id: person.id, invoice }
      const found = await runOperation<InvoiceDetailJson>(c, 'billing.getInvoice', input)
      return <InvoiceDetails invoice={found} />
    },
  },
}

/** Returns the part of an invoice's amount that has not been refunded. */
function remainingOf({ total, refunded }: InvoiceDetailJson): Money {
  return money(total.amount - refunded.amount, total.currency)
}

/** Reads the amount of a form, with a decimal point or comma. */
function readAmount(form: URLSearchParams): { amount: number; currency: string } {
  const text = (form.get('amount') ?? '').trim().replace(',', '.')
  try {
    const { amount, currency } = fromDecimal(text, form.get('currency') ?? '')
    if (amount > 0) return { amount, currency }
  } catch (error) {
    if (!isBillingError(error)) throw error
  }
  throw new InvalidField('people.wrongAmount')
}

/** Reads the date in a form, and returns the start of that day in UTC. */
function readDate(form: URLSearchParams): string {
  const date = new Date(`${form.get('date') ?? ''}T00:00:00.000Z`)
  if (Number.isNaN(date.getTime())) throw new InvalidField('people.wrongDate')
  return date.toISOString()
}

const DateField: FC<{ view: ActView }> = ({ view: { c, form } }) => {
  const { t } = usePage()
  const tomorrow = new Date(billingNow(c.get('page').service).getTime() + DAY_MS)
  return (
    <TextField
      id="date"
      label={t('people.until')}
      hint={t('people.until.hint')}
      input={{
        type: 'date',
        name: 'date',
        required: true,
        min: tomorrow.toISOString().slice(0, 10),
        value: form?.get('date') ?? '',
      }}
    />
  )
}

const AmountField: FC<{ currency: string; value: string; required?: boolean; rest?: Money }> = ({
  currency,
  value,
  required = false,
  rest,
}) => {
  const { t } = usePage()
  return (
    <>
      <input type="hidden" name="currency" value={currency} />
      <TextField
        id="amount"
        label={t('people.amount', { currency: currency.toUpperCase() })}
        hint={
          rest
            ? t('people.amount.rest', { amount: formatAmount(rest, t) })
            : t('people.amount.hint', { example: toDecimal(money(1250, currency)) })
        }
        input={{ name: 'amount', inputmode: 'decimal', autocomplete: 'off', required, value }}
      />
    </>
  )
}

const CouponField: FC<{ value: string }> = ({ value }) => (
  <TextField
    id="coupon"
    label={usePage().t('people.couponId')}
    hint={usePage().t('people.couponId.hint')}
    input={{ name: 'coupon', required: true, maxlength: 255, autocomplete: 'off', value }}
  />
)

const DescriptionField: FC<{ value: string }> = ({ value }) => (
  <TextField
    id="description"
    label={usePage().t('people.description')}
    hint={usePage().t('people.description.hint')}
    input={{ name: 'description', maxlength: 255, autocomplete: 'off', value }}
  />
)

const ReasonField: FC<{ value: string }> = ({ value }) => {
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

const InvoiceDetails: FC<{ invoice: InvoiceDetailJson }> = ({ invoice }) => {
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
